UPSERT INTO warehouse.orders SELECT id, currency FROM payments PK id
