INSERT INTO out SELECT payments.id FROM payments INNER JOIN counters ON payments.customerId = counters._key GROUP BY SLIDING(1,m)
