-- A null check in WHERE applies to the whole SELECT.
INSERT INTO t SELECT STREAM sensor, SUM(celsius) * 2 AS twice FROM readings WHERE celsius IS NOT NULL AND celsius > 0 GROUP BY sensor
