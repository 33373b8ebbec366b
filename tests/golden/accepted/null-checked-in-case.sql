-- The third solution for nullable operands: a check in CASE.
INSERT INTO t SELECT STREAM
  CASE WHEN speed IS NULL THEN 0 ELSE speed * 3.6 END AS first,
  CASE WHEN speed IS NOT NULL THEN speed * 3.6 ELSE 0 END AS second,
  CASE WHEN ISNULL(speed) THEN 0 WHEN speed > 10 THEN 1 ELSE 2 END AS third,
  CASE WHEN NOT (speed IS NULL OR speed < 1) THEN speed + 1 ELSE 0 END AS fourth,
  CASE WHEN speed IS NOT NULL AND speed > 10 THEN speed - 1 ELSE AS_NON_NULLABLE(speed) END AS fifth
FROM vehicles
