INSERT INTO t SELECT STREAM -celsius AS c FROM readings
