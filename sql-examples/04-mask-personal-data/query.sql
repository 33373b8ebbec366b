SET defaults.topic.autocreate=true;

-- The new fields replace those of the same name; all other fields of the record are unchanged.
INSERT INTO customers_masked
SELECT STREAM
  *,
  EMAIL(email) AS email,
  MASK(phone) AS phone,
  INITIALS(name) AS name,
  LAST4(card) AS card
FROM customers;
