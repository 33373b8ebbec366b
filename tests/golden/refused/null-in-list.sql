INSERT INTO t SELECT STREAM * FROM readings WHERE sensor IN ('a', unit)
