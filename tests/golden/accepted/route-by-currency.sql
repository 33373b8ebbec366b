INSERT INTO eur SELECT STREAM * FROM payments WHERE currency = 'EUR';
INSERT INTO usd SELECT STREAM * FROM payments WHERE currency IN ('USD', 'USN');
INSERT INTO other SELECT STREAM * FROM payments WHERE NOT (currency IN ('EUR', 'USD', 'USN')) OR currency IS NULL;
