WITH a AS (SELECT STREAM sensor, celsius AS c FROM readings);
INSERT INTO t SELECT STREAM c + 1 AS n FROM a
