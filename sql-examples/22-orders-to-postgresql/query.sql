-- The newest state of each order as a row; a tombstone deletes its row. The sink `shop` is configured beside the program.
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

-- Every change as a row of its own: exactly once, though no field tells the rows apart.
INSERT INTO shop.order_changes
SELECT _key AS order_id, status, _ts AS changed_at_ms
FROM orders
WHERE status IS NOT NULL
AUTOCREATE;
