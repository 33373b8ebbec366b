INSERT INTO t SELECT STREAM COUNT(*) AS n FROM payments AS p INNER JOIN orders AS o ON LEN(p.id) = o.id WITHIN 1h
GROUP BY p.id, o.id
