SET defaults.topic.autocreate=true;

INSERT INTO payments_by_means
SELECT STREAM
  id,
  means.member0 AS voucher,
  means.member1.lastDigits AS card,
  cents,
  COALESCE(note, 'none') AS note
FROM payments
WHERE means IS NOT NULL;
