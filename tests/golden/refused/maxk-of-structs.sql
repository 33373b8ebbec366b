INSERT INTO t SELECT STREAM sensor, MAXK(place, 3) AS c FROM readings GROUP BY sensor
