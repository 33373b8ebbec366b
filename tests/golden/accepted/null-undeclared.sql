-- JSON that nobody declared: every field may be null, and nobody could say that one is not.
INSERT INTO t SELECT STREAM celsius * 2 AS c, UPPER(unit) AS u, marks[0] + 1 AS m FROM found WHERE ok AND place.height > 3;
WITH a AS (SELECT STREAM sensor, celsius + 1 AS c FROM found);
INSERT INTO v SELECT STREAM sensor, SUM(c) * 2 AS s FROM a GROUP BY sensor
