INSERT INTO totals SELECT STREAM COUNT(*) AS n FROM payments GROUP BY HOP(5,m,1,m), customerId
