INSERT INTO t SELECT STREAM currency, FIRST(id) AS first, LAST(amount) AS last, COLLECT(id, 3) AS ids, COLLECT_UNIQUE(customerId, 10000) AS customers, MAXK(amount, 2) AS m, TOPK(id) AS top, COUNT(*) AS n FROM payments WINDOW BY TUMBLE 1m GROUP BY currency;
INSERT INTO u SELECT STREAM FIRST(tag) AS f FROM orders LATERAL lines AS line LATERAL line.tags AS tag GROUP BY id
