-- Records that nobody looks into keep their bytes, key and value.
INSERT INTO out SELECT STREAM * FROM vehicles WHERE AS_NON_NULLABLE(speed) > 10
