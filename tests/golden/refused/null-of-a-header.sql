INSERT INTO t SELECT STREAM LEN(_header.trace) AS n FROM readings
