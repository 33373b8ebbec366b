INSERT INTO t SELECT STREAM LEN(place.name) AS n FROM readings
