SET defaults.topic.autocreate=true;

INSERT INTO order_lines
SELECT STREAM
  _id AS orderId,
  placed,
  total._currency AS currency,
  l.sku AS sku,
  l.qty AS qty
FROM orders
LATERAL line AS l
WHERE l.qty IS NOT NULL AND l.qty > 0;
