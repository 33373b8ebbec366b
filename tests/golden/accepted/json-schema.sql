-- JSON with the id of a schema before it: so is what is computed from it, unless the program says otherwise.
SET `topic.plain.value.json.schema`=false;
SET `topic.named.value.json.schema`=true;
INSERT INTO computed SELECT STREAM id, level * 2 AS twice FROM alarms;
INSERT INTO whole SELECT STREAM * FROM alarms;
INSERT INTO plain SELECT STREAM id FROM alarms;
INSERT INTO named SELECT STREAM page FROM clicks
