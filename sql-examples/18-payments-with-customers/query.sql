SET defaults.topic.autocreate=true;

WITH known AS (SELECT TABLE name, country FROM customers);

INSERT INTO payments_with_names
SELECT STREAM p.amount, c.name, c.country
FROM payments AS p LEFT JOIN known AS c ON p.customer_id = c._key;
