INSERT INTO t SELECT STREAM marks[0] + 1 AS n FROM readings
