INSERT INTO marked SELECT STREAM UUID() AS _key, UUID() AS mark, RANDINT() AS draw, * FROM payments WHERE RANDINT() > 0;
INSERT INTO counts SELECT STREAM UUID() AS mark, currency, COUNT(*) AS n FROM payments GROUP BY currency
