-- The second way out: a promise, which fails the record that breaks it.
INSERT INTO t SELECT STREAM AS_NON_NULLABLE(speed) * 3.6 AS kmh FROM vehicles WHERE AS_NON_NULLABLE(speed) > 10
