-- The latest state of each order as a row; a tombstone deletes its row. The environment configures the sink `shop`.
UPSERT INTO shop.orders
SELECT
  _key AS order_id,
  customer.name AS customer,
  status,
  total,
  lines
FROM orders
PK order_id
AUTOCREATE;

-- Every change as a new row, exactly once, although no field identifies the rows.
INSERT INTO shop.order_changes
SELECT _key AS order_id, status, _ts AS changed_at_ms
FROM orders
WHERE status IS NOT NULL
AUTOCREATE;
