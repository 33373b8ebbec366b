SET defaults.topic.autocreate=true; SET error.policy='fail'; SET dead.letter.queue='dead';
INSERT INTO big SELECT STREAM currency FROM payments
