SET autocreate=true;
INSERT INTO copy SELECT STREAM * FROM payments;
UPSERT INTO shop.totals SELECT STREAM currency, COUNT(*) AS n, MAX(amount) AS most FROM payments GROUP BY currency PK currency;
INSERT INTO shop.log SELECT STREAM id, amount FROM payments
