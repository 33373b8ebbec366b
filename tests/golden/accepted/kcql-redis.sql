INSERT INTO `order-cache.customers` SELECT customerId, currency, amount FROM payments PK customerId, currency WITHFORMAT JSON STOREAS String
