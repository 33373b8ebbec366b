INSERT INTO out SELECT STREAM p.id FROM payments AS p JOIN orders AS o ON LEN(p.id) > o.id WITHIN 1m
