INSERT INTO t (id, sum) SELECT STREAM id, amount FROM payments
