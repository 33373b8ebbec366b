CREATE TABLE orders(codes array<int, int>) FORMAT(LONG, JSON); INSERT INTO t SELECT STREAM * FROM orders
