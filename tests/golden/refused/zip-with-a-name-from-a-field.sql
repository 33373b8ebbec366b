SET autocreate=true;
INSERT INTO t SELECT STREAM ZIP([1], 'x', [2], currency) AS pairs FROM payments
