INSERT INTO out
SELECT STREAM id, amuont
FROM payments;
