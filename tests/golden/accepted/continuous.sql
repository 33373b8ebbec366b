SET processing.mode='continuous';
SET error.policy='dlq';
SET dead.letter.queue='dead';
INSERT INTO large SELECT STREAM id, amount FROM payments WHERE amount > 50;
INSERT INTO by_currency SELECT STREAM COUNT(*) AS n FROM payments WINDOW BY TUMBLE 1m GROUP BY currency;
