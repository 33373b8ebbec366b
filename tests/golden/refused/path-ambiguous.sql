WITH named AS (SELECT STREAM customer.name FROM orders);
INSERT INTO names SELECT STREAM customer.name AS name FROM named JOIN orders AS o ON named.name = o.customer.name WITHIN 1h
