SET autocreate=true;
INSERT INTO t SELECT STREAM CAST(EXTRACT_TIME(_ts) AS timestamp) AS at FROM payments
