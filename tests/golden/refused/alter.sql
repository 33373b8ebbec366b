ALTER TABLE payments ADD COLUMN a int
