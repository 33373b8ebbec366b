UPSERT INTO shop SELECT id, currency FROM payments PK customerId
