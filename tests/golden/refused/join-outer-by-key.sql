INSERT INTO out SELECT TABLE p.id FROM payments AS p RIGHT JOIN counters AS c ON p.customerId = c._key
