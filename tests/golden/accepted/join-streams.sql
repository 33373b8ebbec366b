INSERT INTO out SELECT STREAM p.id, o.customer.name FROM payments AS p FULL JOIN orders AS o ON LEN(p.id) = o.id WITHIN 1h GRACE BY 5m
