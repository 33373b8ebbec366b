SET autocreate=true; SET error.policy=dlq; SET dead.letter.queue='payments';
INSERT INTO big SELECT STREAM currency FROM payments
