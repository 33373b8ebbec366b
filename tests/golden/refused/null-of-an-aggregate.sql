INSERT INTO t SELECT STREAM sensor, SUM(celsius) * 2 AS n FROM readings GROUP BY sensor
