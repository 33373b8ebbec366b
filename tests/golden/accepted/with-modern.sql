WITH big AS (SELECT STREAM *, amount > 1000 AS huge FROM payments WHERE amount > 100);
WITH eur AS (SELECT STREAM * FROM big WHERE currency = 'EUR' AND huge);
INSERT INTO eur_payments SELECT STREAM * FROM eur;
INSERT INTO eur_counts SELECT STREAM COUNT(*) AS n FROM eur WINDOW BY TUMBLE 1h;
