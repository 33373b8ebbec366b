SET defaults.topic.autocreate=true;
SET error.policy='dlq';
SET dead.letter.queue='meters.dead';

INSERT INTO loads
SELECT STREAM meter, watts / CAST(volts AS double) AS amperes
FROM meters
WHERE watts > 0;
