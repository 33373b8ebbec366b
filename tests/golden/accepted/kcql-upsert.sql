-- PK names a field of the source, which has an alias in the SELECT.
UPSERT INTO shop SELECT id AS payment, amount, `at` FROM payments WHERE ok PK id BATCH = 500 AUTOCREATE
