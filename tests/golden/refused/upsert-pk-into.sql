UPSERT PK id INTO shop SELECT id FROM payments
