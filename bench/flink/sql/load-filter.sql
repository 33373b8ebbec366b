CREATE TABLE events (
  k BYTES, id BIGINT, `user` STRING, speed DOUBLE
) WITH ({source}, 'key.fields' = 'k', 'value.fields-include' = 'EXCEPT_KEY', 'value.format' = 'json');

CREATE TABLE results (
  k BYTES, id BIGINT, `user` STRING
) WITH ({target}, 'key.fields' = 'k', 'value.fields-include' = 'EXCEPT_KEY', 'value.format' = 'json');

INSERT INTO results SELECT k, id, `user` FROM events WHERE speed >= 0;
