SET defaults.topic.autocreate=true; SET defaults.topic.partitions=3; SET topic.out.cleanup.policy='compact';
SET `topic.retention.ms`=1000; SET auto.offset.reset=latest; SET max.poll.records=100; SET linger.ms=5; SET commit.interval.ms=100;
SET processing.guarantee=at_least_once; SET error.policy='fail'; SET emit=changes;
-- comments of
// all three
/* kinds */
insert into out select stream * from payments
