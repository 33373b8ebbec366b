WITH s AS (SELECT STREAM customerId, amount, id AS _key FROM payments);
INSERT INTO t SELECT TABLE COUNT(*) AS n FROM s GROUP BY customerId