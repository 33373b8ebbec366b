SET topic.`market.risk`.cleanup.policy='compact,delete';
SET topic.`market-risk`.partitions=3;
SET autocreate=true;
INSERT INTO `market.risk` SELECT STREAM * FROM payments;
INSERT INTO `market-risk` SELECT STREAM * FROM payments