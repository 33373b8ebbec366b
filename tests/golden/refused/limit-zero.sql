INSERT INTO t SELECT STREAM sensor, COLLECT(celsius, 0) AS c FROM readings GROUP BY sensor
