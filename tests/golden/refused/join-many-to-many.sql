INSERT INTO out SELECT TABLE p.id FROM payments AS p JOIN orders AS o ON LEN(p.id) = o.id
