-- The first way out: a value instead of null.
INSERT INTO t SELECT STREAM COALESCE(speed, 0) * 3.6 AS kmh FROM vehicles WHERE COALESCE(speed, 0) > 10
