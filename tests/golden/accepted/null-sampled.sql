-- The schema comes from a sample: all fields are nullable, and operators accept them.
INSERT INTO t SELECT STREAM celsius * 2 AS c, UPPER(unit) AS u, marks[0] + 1 AS m FROM sampled WHERE ok AND place.height > 3;
WITH a AS (SELECT STREAM sensor, celsius + 1 AS c FROM sampled);
INSERT INTO v SELECT STREAM sensor, SUM(c) * 2 AS s FROM a GROUP BY sensor
