-- A subselect is a WITH query without a name of its own.
WITH euros AS (SELECT STREAM * FROM payments WHERE currency = 'EUR');
INSERT INTO large SELECT STREAM id, total FROM (SELECT STREAM id, amount * 2 AS total FROM euros) WHERE total > 10;
INSERT INTO per_country SELECT STREAM COUNT(*) AS n
FROM (SELECT STREAM customer.address.country FROM orders) AS o GROUP BY o.country;
INSERT INTO pairs SELECT STREAM p.id, o.country
FROM (SELECT STREAM id, LEN(currency) AS number FROM (SELECT STREAM * FROM payments WHERE ok) p) AS p
JOIN (SELECT STREAM id, customer.address.country FROM orders) o ON p.number = o.id WITHIN 1h
