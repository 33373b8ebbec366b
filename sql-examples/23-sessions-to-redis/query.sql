-- The latest session of each user, as JSON under `sessions:<user>`.
UPSERT INTO cache.sessions
SELECT STREAM _key AS user, page, device
FROM sessions
PK user
WITHFORMAT JSON;

-- The number of pages per device, as a hash under `pages:<device>`.
UPSERT INTO cache.pages
SELECT STREAM device, COUNT(*) AS pages
FROM sessions
GROUP BY device
PK device
STOREAS HASH;
