SET defaults.topic.autocreate=true;
SET commit.interval.ms='1000';
SET enable.auto.commit=false;
SET auto.offset.reset='earliest';

WITH countries_stream AS (SELECT STREAM * FROM countries);

WITH merchants_stream AS (SELECT STREAM * FROM merchants);

WITH merchants_with_country AS (
  SELECT STREAM m._key AS merchant, CONCAT(surname, ', ', name) AS fullname, address.country, language, platform
  FROM merchants_stream AS m JOIN countries_stream AS c ON m.address.country = c._key
  WITHIN 1h
);

WITH merchants_by_id AS (
  SELECT STREAM merchant AS _key, fullname, country, language, platform
  FROM merchants_with_country
);

INSERT INTO current_merchants
SELECT STREAM *
FROM merchants_by_id;

INSERT INTO merchants_per_platform
SELECT TABLE COUNT(*) AS merchants
FROM merchants_by_id
GROUP BY platform;
