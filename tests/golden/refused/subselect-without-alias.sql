INSERT INTO t SELECT STREAM * FROM (SELECT STREAM id FROM payments) JOIN orders ON _key = orders._key WITHIN 1h
