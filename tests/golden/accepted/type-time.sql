SET autocreate=true;
CREATE TABLE shifts(_key string, begins time, ends time) FORMAT(STRING, JSON);
INSERT INTO t STORE VALUE AS AVRO
SELECT STREAM begins, AS_NON_NULLABLE(ends) > TIME_MILLIS(43200000) AS late, EXTRACT_TIME(_ts) AS at FROM shifts;
