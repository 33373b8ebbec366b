-- `customer.name` is not in the result, because `name` is the name of another expression.
WITH named AS (SELECT STREAM customer.name, id FROM orders);
WITH others AS (SELECT STREAM *, 'x' AS name FROM named);
INSERT INTO names SELECT STREAM customer.name FROM others
