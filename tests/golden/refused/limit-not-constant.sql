INSERT INTO t SELECT STREAM sensor, MAXK(celsius, place.height) AS c FROM readings GROUP BY sensor
