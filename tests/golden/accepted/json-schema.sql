-- JSON with a schema id: computed values also get a schema id, unless a SET changes it.
SET `topic.plain.value.json.schema`=false;
SET `topic.named.value.json.schema`=true;
INSERT INTO computed SELECT STREAM id, level * 2 AS twice FROM alarms;
INSERT INTO whole SELECT STREAM * FROM alarms;
INSERT INTO plain SELECT STREAM id FROM alarms;
INSERT INTO named SELECT STREAM page FROM clicks
