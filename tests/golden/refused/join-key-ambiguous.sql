INSERT INTO t SELECT STREAM o.id FROM orders AS o JOIN payments AS p ON _key = p._key WITHIN 1h
