WITH customer AS (SELECT TABLE id, customer.name AS name FROM orders);
INSERT INTO out SELECT STREAM p.amount, c.name FROM payments AS p LEFT JOIN customer AS c ON LEN(p.id) = c._key
