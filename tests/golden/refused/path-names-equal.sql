INSERT INTO names SELECT STREAM customer.name, id, place.name FROM readings AS r JOIN orders AS o ON r._key = o.customer.address.country WITHIN 1h
