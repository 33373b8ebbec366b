INSERT INTO out
WITH all_counters AS (SELECT * FROM counters), large AS (SELECT * FROM all_counters WHERE _value > 10)
SELECT STREAM payments.id, large._value AS n FROM payments LEFT JOIN large ON payments.customerId = large._key
