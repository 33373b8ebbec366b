SET autocreate=true;
INSERT INTO t SELECT currency, COUNT(*) AS n FROM payments GROUP BY currency, TUMBLE(1,m)