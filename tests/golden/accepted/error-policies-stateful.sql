SET defaults.topic.autocreate=true; SET error.policy=dlq; SET `dead.letter.queue`=dead;
INSERT INTO big SELECT STREAM currency FROM payments;
INSERT INTO per_currency SELECT STREAM COUNT(*) AS n FROM payments WINDOW BY TUMBLE 1m GROUP BY currency
