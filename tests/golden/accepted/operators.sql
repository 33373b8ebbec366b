INSERT INTO out SELECT STREAM 1 + 2 * 3 - 4 / 5 % 6 AS a, -amount AS b, CASE currency WHEN 'EUR' THEN 1 WHEN 'USD' THEN 2.5 END AS c,
 CASE WHEN amount > 1 AND ok OR NOT ok THEN 'x' ELSE 'y' END AS d, CAST(amount AS int) AS e, CAST('1.5' AS decimal(10,2)) AS f,
 at + 1d - 2h AS g, amount <> 1 AS h, amount IS NOT NULL AS i, id NOT LIKE '%z' AS j, amount NOT BETWEEN 1 AND 2 AS k, UPPER(id), amount*2
FROM payments;
