-- Fields whose type no sampled record shows are selected, tested with IS NULL, and written as JSON.
INSERT INTO t SELECT STREAM id, note, tags[0] AS tag, place FROM unknown WHERE note IS NOT NULL;
INSERT INTO u SELECT STREAM place.more AS _value FROM unknown;
INSERT INTO shop SELECT STREAM id, note FROM unknown
