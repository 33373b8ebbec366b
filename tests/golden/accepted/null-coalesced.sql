-- The first solution for nullable operands: a default value.
INSERT INTO t SELECT STREAM COALESCE(speed, 0) * 3.6 AS kmh FROM vehicles WHERE COALESCE(speed, 0) > 10
