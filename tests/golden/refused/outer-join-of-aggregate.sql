WITH counts AS (SELECT STREAM COUNT(*) AS n FROM payments GROUP BY customerId);
INSERT INTO pairs
SELECT STREAM p.amount, o.id, c.n
FROM payments AS p LEFT JOIN orders AS o ON CAST(p.id AS LONG) = o.id WITHIN 1h JOIN counts AS c ON p.customerId = c._key
