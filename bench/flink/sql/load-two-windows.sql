-- Grouped by the start of the window alone, a count is written whenever it changes, as the other engines do. Grouped by
-- its end as well, it would be written once, when the window is closed.
CREATE TABLE events (
  k STRING, v BYTES, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  WATERMARK FOR ts AS ts - INTERVAL '10' MINUTES
) WITH ({source}, 'key.fields' = 'k', 'value.format' = 'raw', 'value.fields-include' = 'EXCEPT_KEY');

CREATE TABLE short_counts (
  k STRING, window_start TIMESTAMP(3), n BIGINT, PRIMARY KEY (k, window_start) NOT ENFORCED
) WITH ({target_table}, 'value.format' = 'json');

CREATE TABLE long_counts (
  k STRING, window_start TIMESTAMP(3), n BIGINT, PRIMARY KEY (k, window_start) NOT ENFORCED
) WITH ({second_target_table}, 'value.format' = 'json');

INSERT INTO short_counts
SELECT k, window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECONDS))
GROUP BY k, window_start;

INSERT INTO long_counts
SELECT k, window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
GROUP BY k, window_start;
