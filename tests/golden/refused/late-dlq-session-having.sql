SET late.records='dlq'; SET dead.letter.queue='dead'; SET autocreate=true;
INSERT INTO o SELECT STREAM COUNT(*) AS n FROM payments WINDOW BY SESSION 1m GROUP BY currency HAVING COUNT(*) > 1
