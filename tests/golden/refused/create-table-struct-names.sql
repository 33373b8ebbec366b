CREATE TABLE orders(place struct<lat: double, lat: double>) FORMAT(LONG, JSON); INSERT INTO t SELECT STREAM * FROM orders
