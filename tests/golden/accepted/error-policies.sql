SET defaults.topic.autocreate=true; SET error.policy='continue'; SET error.policy.write='dlq';
SET dead.letter.queue='payments.dead';
INSERT INTO big SELECT STREAM currency, amount FROM payments WHERE amount > 10
