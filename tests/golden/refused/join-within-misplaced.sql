INSERT INTO out SELECT TABLE p.id FROM payments AS p JOIN counters AS o ON p._key = o._key WITHIN 1h
