-- Functions, aggregates and operators that accept null.
INSERT INTO t SELECT STREAM CONCAT(sensor, unit) AS a, EXISTS(unit) AS b, unit IS NULL AS c, MAX(celsius, 0.0) AS d, CAST(at AS string) AS e FROM readings;
INSERT INTO u SELECT STREAM unit, FIRST(celsius) AS a, COLLECT(celsius, 3) AS b, AVG(celsius) AS c FROM readings GROUP BY unit
