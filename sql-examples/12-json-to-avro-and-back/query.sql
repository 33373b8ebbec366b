SET defaults.topic.autocreate=true;
SET topic.signups_avro.value.avro.record='Signup';

-- The schema is derived from the fields and registered.
INSERT INTO signups_avro
STORE KEY AS STRING VALUE AS AVRO
SELECT STREAM id, email, address, COALESCE(newsletter, false) AS newsletter
FROM signups_json;

-- From AVRO to JSON, for consumers of JSON.
INSERT INTO orders_json
STORE VALUE AS JSON
SELECT STREAM * FROM orders_avro;
