INSERT INTO total_transactions SELECT count(*) AS transaction_count FROM payments GROUP BY currency
