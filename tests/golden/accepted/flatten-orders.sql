INSERT INTO lines SELECT STREAM id AS order_id, customer.address.city AS city, line.sku, line.qty * 2 AS twice, tag, codes[0] AS first
FROM orders LATERAL lines AS line LATERAL line.tags AS tag
WHERE line.qty > 1 AND customer.address.country = 'CA' AND LEN(tag) > 0;
