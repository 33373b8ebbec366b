SET autocrete=true;
INSERT INTO out SELECT STREAM * FROM payments
