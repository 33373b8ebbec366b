SET late.records='dlq'; SET dead.letter.queue='dead'; SET autocreate=true;
WITH customer AS (SELECT TABLE id, customer.name AS name FROM orders);
INSERT INTO o SELECT STREAM COUNT(*) AS n FROM payments AS p JOIN customer AS c ON LEN(p.id) = c._key WINDOW BY TUMBLE 1m GROUP BY p.currency
