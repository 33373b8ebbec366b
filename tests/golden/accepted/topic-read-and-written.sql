INSERT INTO payments SELECT STREAM * FROM payments WHERE amount > 10;
