SET emit='final'; INSERT INTO out SELECT STREAM COUNT(*) AS n FROM payments GROUP BY currency
