INSERT INTO deletions SELECT STREAM customerId AS _key, NULL AS _value FROM payments WHERE NOT ok;
