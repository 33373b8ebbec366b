SET processing.guarantee='at_least_once';
INSERT INTO sampled SELECT STREAM currency, COUNT(*) AS n FROM payments WHERE RANDINT() > 0 GROUP BY currency
