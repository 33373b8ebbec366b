INSERT INTO out SELECT STREAM * FROM payments INNER JOIN orders ON payments.customerId = orders._key
