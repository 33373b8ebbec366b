CREATE TABLE reports (
  k STRING, v BYTES, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  WATERMARK FOR ts AS ts - INTERVAL '10' MINUTES
) WITH ({source}, 'key.fields' = 'k', 'value.format' = 'raw', 'value.fields-include' = 'EXCEPT_KEY');

CREATE TABLE counts (
  k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT
) WITH ({target}, 'key.fields' = 'k', 'value.fields-include' = 'EXCEPT_KEY', 'value.format' = 'json');

INSERT INTO counts
SELECT k, window_start, window_end, COUNT(*)
FROM TABLE(TUMBLE(TABLE reports, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY k, window_start, window_end;
