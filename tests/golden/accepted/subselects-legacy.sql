SET autocreate=true;
INSERT INTO named SELECT STREAM p.id, c.name
FROM payments p JOIN (SELECT customer.name FROM (SELECT * FROM orders WHERE _ktype=LONG) AS o) c ON LEN(p.id) = c._key
WHERE p._vtype='JSON' AND p.amount > 1
