-- A path without an alias is named by its last part; the query that reads it can use both names.
WITH places AS (SELECT STREAM o.customer.address.country, customer.name, lines[0].sku, codes[0], id FROM orders AS o);
WITH large AS (SELECT STREAM *, 1 AS size FROM places);
INSERT INTO countries SELECT STREAM country, customer.name AS who, lines[0].sku, `codes[0]` FROM places
WHERE customer.address.country = 'IT';
INSERT INTO per_country SELECT STREAM customer.address.country, COUNT(*) AS n FROM large GROUP BY customer.address.country;
INSERT INTO pairs SELECT STREAM l.id, customer.address.country, c.page
FROM large AS l JOIN clicks AS c ON l.customer.address.country = c._key.user WITHIN 1h
