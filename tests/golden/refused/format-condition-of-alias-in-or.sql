INSERT INTO o SELECT * FROM payments AS p WHERE p._vtype='JSON' OR p.amount > 1
