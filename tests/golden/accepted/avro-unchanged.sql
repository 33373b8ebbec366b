-- The SELECT does not change key and value, so they keep their original bytes.
INSERT INTO out SELECT STREAM * FROM vehicles WHERE AS_NON_NULLABLE(speed) > 10
