INSERT INTO out SELECT STREAM `UPPER`(currency) AS a, `cast`(amount AS int) AS b, `Len`(`TRIM`(id)) AS c FROM payments;
INSERT INTO counts SELECT STREAM `COUNT`(*) AS n, `max`(amount) AS largest FROM payments GROUP BY currency;
