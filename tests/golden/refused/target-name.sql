INSERT INTO `eu/payments` SELECT STREAM * FROM payments
