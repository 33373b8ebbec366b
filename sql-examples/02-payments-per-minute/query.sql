SET defaults.topic.autocreate=true;

INSERT INTO payments_per_minute
SELECT STREAM
  COUNT(*) AS payments,
  SUM(amount) AS total,
  MAX(amount) AS largest
FROM payments
WINDOW BY TUMBLE 1m GRACE BY 30s
GROUP BY merchant;
