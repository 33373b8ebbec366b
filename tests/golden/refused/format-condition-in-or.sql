INSERT INTO o SELECT * FROM payments WHERE _ktype='STRING' AND _vtype='JSON' OR amount > 1
