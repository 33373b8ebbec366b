SET grace='1h';
INSERT INTO totals SELECT STREAM currency, customerId, COUNT(id) AS n FROM payments EVENTTIME BY at
WINDOW BY HOP 5m BY 1m GROUP BY currency, customerId;
