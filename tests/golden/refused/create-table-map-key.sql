CREATE TABLE orders(labels map<int, string>) FORMAT(LONG, JSON); INSERT INTO t SELECT STREAM * FROM orders
