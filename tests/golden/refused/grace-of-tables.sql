INSERT INTO out SELECT TABLE p.id FROM payments AS p JOIN counters AS c ON p.customerId = c._key GRACE BY 1m
