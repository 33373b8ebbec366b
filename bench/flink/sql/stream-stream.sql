CREATE TABLE reports (
  k STRING, MMSI BIGINT, Speed DOUBLE,
  ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR ts AS ts - INTERVAL '10' MINUTES
) WITH ({source}, 'key.fields' = 'k', 'value.fields-include' = 'EXCEPT_KEY', 'value.format' = 'json');

CREATE TABLE calls (
  k STRING, Port STRING,
  ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR ts AS ts - INTERVAL '10' MINUTES
) WITH ({other}, 'key.fields' = 'k', 'value.fields-include' = 'EXCEPT_KEY', 'value.format' = 'json');

CREATE TABLE pairs (
  k STRING, MMSI BIGINT, Speed DOUBLE, Port STRING
) WITH ({target}, 'key.fields' = 'k', 'value.fields-include' = 'EXCEPT_KEY', 'value.format' = 'json');

INSERT INTO pairs
SELECT r.k, r.MMSI, r.Speed, c.Port FROM reports AS r JOIN calls AS c
ON r.k = c.k AND r.ts BETWEEN c.ts - INTERVAL '10' SECOND AND c.ts + INTERVAL '10' SECOND;
