WITH counts AS (SELECT STREAM COUNT(*) AS n FROM payments GROUP BY customerId);
INSERT INTO pairs SELECT STREAM c.n, p.amount FROM counts AS c LEFT JOIN payments AS p ON c._key = p.customerId WITHIN 1h
