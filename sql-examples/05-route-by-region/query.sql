SET defaults.topic.autocreate=true;
SET defaults.topic.partitions=3;

INSERT INTO orders_eu SELECT STREAM * FROM orders WHERE region = 'EU';
INSERT INTO orders_us SELECT STREAM * FROM orders WHERE region = 'US';
INSERT INTO orders_other
SELECT STREAM *, COALESCE(region, 'unknown') AS region
FROM orders
WHERE region IS NULL OR NOT region IN ('EU', 'US');
