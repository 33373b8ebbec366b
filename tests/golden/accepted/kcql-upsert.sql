-- PK by the name of the source, which the alias replaces.
UPSERT INTO shop SELECT id AS payment, amount, `at` FROM payments WHERE ok PK id BATCH = 500 AUTOCREATE
