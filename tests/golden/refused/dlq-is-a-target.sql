SET autocreate=true; SET error.policy.write=dlq; SET dead.letter.queue='big';
INSERT INTO big SELECT STREAM currency FROM payments
