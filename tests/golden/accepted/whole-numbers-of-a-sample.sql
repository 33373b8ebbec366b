-- Fields that are whole numbers in all sampled records pass on their digits, are computed with exactly, and are long where a long is needed.
INSERT INTO a SELECT STREAM *, n + 1 AS more FROM counts WHERE n > 5;
INSERT INTO b SELECT STREAM n, xs, n / 2 AS half, n * 1.5 AS d, DATE(n) AS day, TO_TIMESTAMP(at) AS t, at + 1d AS later FROM counts;
INSERT INTO c STORE VALUE AS AVRO SELECT STREAM n, xs FROM counts;
INSERT INTO d STORE VALUE AS PROTOBUF SELECT STREAM n, xs FROM counts;
INSERT INTO e SELECT STREAM COUNT(*) AS c, SUM(n) AS s, AVG(n) AS v, MAX(n) AS m, COLLECT(n, 2) AS l FROM counts EVENTTIME BY at WINDOW BY TUMBLE 1m GROUP BY n;
INSERT INTO f STORE KEY AS LONG SELECT STREAM COUNT(*) AS c FROM counts GROUP BY n;
INSERT INTO g SELECT STREAM COUNT(*) AS c FROM counts GROUP BY n, name;
INSERT INTO h SELECT STREAM n AS _value FROM counts;
UPSERT INTO shop SELECT STREAM n, name FROM counts PK n
