SET defaults.topic.autocreate=true;

INSERT INTO sold_items
SELECT STREAM
  id AS orderId,
  customer.address.city AS city,
  item.product.sku AS product.sku,
  item.product.price * item.quantity AS product.amount,
  tag AS tag
FROM orders
LATERAL items AS item
LATERAL item.tags AS tag
WHERE item.quantity > 0;
