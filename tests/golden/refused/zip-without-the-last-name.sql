SET autocreate=true;
INSERT INTO t SELECT STREAM ZIP([1], 'x', [2], 'y', [3]) AS pairs FROM payments
