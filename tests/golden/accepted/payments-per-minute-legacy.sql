SET autocreate=true;
INSERT INTO totals SELECT STREAM COUNT(*) AS total FROM payments GROUP BY TUMBLE(1, m)
