INSERT INTO t SELECT STREAM sensor, COLLECT(celsius) AS c FROM readings GROUP BY sensor
