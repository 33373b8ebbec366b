WITH pairs AS (SELECT STREAM o.id AS id FROM orders AS o LEFT JOIN payments AS p ON o.id = CAST(p.id AS LONG) WITHIN 1h);
INSERT INTO counts SELECT STREAM COUNT(*) AS n FROM pairs GROUP BY id
