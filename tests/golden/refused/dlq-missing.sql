SET error.policy='dlq';
INSERT INTO out SELECT STREAM * FROM payments
