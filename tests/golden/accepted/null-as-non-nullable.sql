-- The second solution for nullable operands: AS_NON_NULLABLE. A record with null fails.
INSERT INTO t SELECT STREAM AS_NON_NULLABLE(speed) * 3.6 AS kmh FROM vehicles WHERE AS_NON_NULLABLE(speed) > 10
