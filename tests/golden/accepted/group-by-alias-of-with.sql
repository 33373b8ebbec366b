WITH joined AS (
  SELECT STREAM p.id AS payment_id, o.id AS order_id FROM payments AS p INNER JOIN orders AS o ON LEN(p.id) = o.id WITHIN 1h
);
INSERT INTO t SELECT STREAM COUNT(*) AS n FROM joined GROUP BY payment_id, order_id
