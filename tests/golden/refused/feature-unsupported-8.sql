WITH marked AS (SELECT STREAM UUID() AS mark, currency FROM payments);
INSERT INTO t SELECT STREAM mark, MAX(currency) AS c FROM marked GROUP BY mark
