INSERT INTO out SELECT STREAM COUNT(*) AS n FROM payments GROUP BY currency HAVING currency IN ('EUR', 'USD')
