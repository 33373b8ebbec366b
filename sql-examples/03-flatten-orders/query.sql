SET defaults.topic.autocreate=true;

INSERT INTO order_lines
SELECT STREAM
  id AS orderId,
  customer.address.city AS city,
  line.sku AS sku,
  line.qty AS qty,
  line.qty * line.price AS amount
FROM orders
LATERAL lines AS line
WHERE line.qty > 0;
