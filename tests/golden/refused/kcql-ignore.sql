INSERT INTO shop SELECT * FROM payments IGNORE amount PK id
