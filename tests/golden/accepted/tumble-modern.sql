SET defaults.topic.autocreate=true;
INSERT INTO totals STORE KEY AS STRING VALUE AS JSON
SELECT STREAM currency, COUNT(*) AS n, SUM(amount) AS total, AVG(amount) AS mean, MIN(amount) AS low, MAX(amount) + 1 AS high
FROM payments WHERE ok WINDOW BY TUMBLE 1m GRACE BY 10s GROUP BY currency;
