SET defaults.topic.autocreate=true;

INSERT INTO visits
SELECT STREAM COUNT(*) AS clicks, FIRST(page) AS entered_at, LAST(page) AS left_at, SUM(ms) AS ms
FROM clicks
WINDOW BY SESSION 30m GRACE BY 1h;
