SET defaults.topic.autocreate=true;

INSERT INTO invoices_due
SELECT STREAM
  number,
  issued,
  due,
  amount,
  amount * 2 AS doubled,
  YEAR(issued) AS year,
  seal
FROM invoices
WHERE amount > 100 AND due IS NOT NULL AND due > issued;
