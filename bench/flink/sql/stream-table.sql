CREATE TABLE reports (
  k STRING, MMSI BIGINT, Speed DOUBLE,
  ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ({source}, 'key.fields' = 'k', 'value.fields-include' = 'EXCEPT_KEY', 'value.format' = 'json');

CREATE TABLE vessels (
  k STRING, Name STRING,
  ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', WATERMARK FOR ts AS ts - INTERVAL '1' SECOND,
  PRIMARY KEY (k) NOT ENFORCED
) WITH ({other_table}, 'value.fields-include' = 'EXCEPT_KEY', 'value.format' = 'json');

CREATE TABLE named (
  k STRING, MMSI BIGINT, Speed DOUBLE, Name STRING
) WITH ({target}, 'key.fields' = 'k', 'value.fields-include' = 'EXCEPT_KEY', 'value.format' = 'json');

INSERT INTO named
SELECT r.k, r.MMSI, r.Speed, v.Name FROM reports AS r JOIN vessels FOR SYSTEM_TIME AS OF r.ts AS v ON r.k = v.k;
