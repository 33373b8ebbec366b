INSERT INTO out SELECT STREAM p.id FROM payments AS p LEFT JOIN orders AS o ON LEN(p.id) = o.id AND p.amount > 1 WITHIN 1m
