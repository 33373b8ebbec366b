SET defaults.topic.autocreate=true;

INSERT INTO sales_per_till
SELECT STREAM
  COUNT(*) AS sales,
  SUM(amount) AS total,
  MAX(amount) AS largest
FROM sales
WINDOW BY TUMBLE 1m GRACE BY 10s;
