INSERT INTO t SELECT STREAM * FROM readings WHERE sensor = 'a' OR ok
