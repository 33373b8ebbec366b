INSERT INTO out SELECT payments.id, counters._value AS n FROM payments INNER JOIN counters ON payments.customerId = counters._key
