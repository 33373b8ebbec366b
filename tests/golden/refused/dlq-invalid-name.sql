SET autocreate=true; SET error.policy=dlq; SET dead.letter.queue='dead letters';
INSERT INTO big SELECT STREAM currency FROM payments
