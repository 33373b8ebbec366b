SET autocreate=true; SET error.policy=continue; UPSERT INTO shop.totals SELECT STREAM currency, COUNT(*) AS n FROM payments GROUP BY currency PK currency
