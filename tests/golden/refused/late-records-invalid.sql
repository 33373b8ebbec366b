SET late.records='keep'; SET autocreate=true;
INSERT INTO o SELECT STREAM COUNT(*) AS n FROM payments WINDOW BY TUMBLE 1m GROUP BY currency
