-- Programs that must be refused. Each block: the code and the place (line:column), then the program up to a line of dashes.
-- expect SQL_EMPTY

----
-- expect SQL_EMPTY
;;
----
-- expect INSERT_MISSING 1:1
SELECT STREAM * FROM payments
----
-- expect INSERT_MISSING 1:1
SET autocreate=true
----
-- expect SQL_SYNTAX 1:15
INSERT INTO t VALUES (1)
----
-- expect SQL_SYNTAX 1:22
INSERT INTO t SELECT FROM payments
----
-- expect SQL_SYNTAX 1:36
INSERT INTO t SELECT STREAM id FROM
----
-- expect SQL_SYNTAX 1:46
INSERT INTO t SELECT STREAM id FROM payments p
----
-- expect SQL_SYNTAX 1:46
INSERT INTO t SELECT STREAM id FROM payments INSERT INTO u SELECT STREAM id FROM payments
----
-- expect SQL_SYNTAX 1:29
INSERT INTO t SELECT STREAM 'open FROM payments
----
-- expect SQL_SYNTAX 1:37
INSERT INTO t SELECT STREAM id FROM `open
----
-- expect SQL_SYNTAX 1:1
/* never closed
----
-- expect SQL_SYNTAX 1:32
INSERT INTO t SELECT STREAM id # 1 FROM payments
----
-- expect SQL_SYNTAX 1:5
SET =1
----
-- expect NUMBER_INVALID 1:29
INSERT INTO t SELECT STREAM 5x AS a FROM payments
----
-- expect NUMBER_INVALID 1:29
INSERT INTO t SELECT STREAM 99999999999999999999 AS a FROM payments
----
-- expect NUMBER_INVALID 1:29
INSERT INTO t SELECT STREAM 1e999 AS a FROM payments
----
-- expect CLAUSE_UNSUPPORTED 1:22
INSERT INTO t SELECT DISTINCT id FROM payments
----
-- expect CLAUSE_UNSUPPORTED 1:46
INSERT INTO t SELECT STREAM id FROM payments UNION SELECT STREAM id FROM payments
----
-- expect CLAUSE_UNSUPPORTED 1:46
INSERT INTO t SELECT STREAM id FROM payments ORDER BY id
----
-- expect CLAUSE_UNSUPPORTED 1:46
INSERT INTO t SELECT STREAM id FROM payments LIMIT 1
----
-- expect SINK_UNKNOWN 1:13
UPSERT INTO t SELECT id FROM payments PK id
----
-- expect SINK_UNKNOWN 1:13
INSERT INTO t SELECT id FROM payments AUTOCREATE
----
-- expect PK_MISSING 1:13
UPSERT INTO shop SELECT id FROM payments
----
-- expect PK_MISSING 1:13
INSERT INTO order_cache SELECT id FROM payments
----
-- expect PK_UNKNOWN 1:45
UPSERT INTO shop SELECT id FROM payments PK id.x
----
-- expect NAME_TWICE 1:49
UPSERT INTO shop SELECT id FROM payments PK id, id
----
-- expect CLAUSE_TWICE 1:48
UPSERT INTO shop SELECT id FROM payments PK id PK id
----
-- expect SQL_SYNTAX 1:54
UPSERT INTO shop SELECT id FROM payments PK id BATCH 0
----
-- expect SINK_CLAUSE 1:48
UPSERT INTO shop SELECT id FROM payments PK id STOREAS HASH
----
-- expect SINK_CLAUSE 1:48
UPSERT INTO shop SELECT id FROM payments PK id WITHFORMAT JSON
----
-- expect SINK_CLAUSE 1:55
UPSERT INTO order_cache SELECT id FROM payments PK id AUTOCREATE
----
-- expect SINK_CLAUSE 1:55
UPSERT INTO order_cache SELECT id FROM payments PK id STOREAS SortedSet(score=ts)
----
-- expect SINK_CLAUSE 1:55
UPSERT INTO order_cache SELECT id FROM payments PK id WITHFORMAT JSON STOREAS HASH
----
-- expect SINK_CLAUSE 1:18
INSERT INTO shop STORE VALUE AS JSON SELECT id FROM payments
----
-- expect SINK_FIELDS_MISSING 1:25
UPSERT INTO shop SELECT NULL AS _value FROM payments PK id
----
-- expect CLAUSE_UNSUPPORTED 1:48
UPSERT INTO shop SELECT id FROM payments PK id AUTOEVOLVE
----
-- expect SINK_UNKNOWN 1:13
INSERT INTO t SELECT id FROM payments WITHFORMAT JSON
----
-- expect ONE_STATEMENT_ONLY 1:42
WITH x AS (SELECT STREAM id FROM payments; SELECT STREAM id FROM payments); INSERT INTO t SELECT STREAM * FROM x
----
-- expect WINDOW_INVALID 1:74
INSERT INTO t SELECT STREAM COUNT(*) AS n FROM payments WINDOW BY HOP 1m,5m GROUP BY id
----
-- expect WINDOW_INVALID 1:74
INSERT INTO t SELECT STREAM COUNT(*) AS n FROM payments WINDOW BY TUMBLE 0s GROUP BY id
----
-- expect WINDOW_TWICE 1:83
INSERT INTO t SELECT STREAM COUNT(*) AS n FROM payments GROUP BY id, TUMBLE(1,m), TUMBLE(2,m)
----
-- expect TOPIC_UNKNOWN 1:37
INSERT INTO t SELECT STREAM id FROM paymints
----
-- expect FIELD_UNKNOWN 1:29
INSERT INTO t SELECT STREAM x FROM payments
----
-- expect FIELD_UNKNOWN 1:38
INSERT INTO t SELECT STREAM customer.nam AS n FROM orders
----
-- expect FIELD_NOT_INSIDE 1:32
INSERT INTO t SELECT STREAM id.x AS n FROM payments
----
-- expect FIELD_UNKNOWN 1:29
INSERT INTO t SELECT STREAM _meta.x AS n FROM payments
----
-- expect FUNCTION_UNKNOWN 1:29
INSERT INTO t SELECT STREAM NOPE(1) AS n FROM payments
----
-- expect ARGUMENT_COUNT 1:29
INSERT INTO t SELECT STREAM UPPER() AS n FROM payments
----
-- expect ARGUMENT_TYPE 1:35
INSERT INTO t SELECT STREAM UPPER(1) AS n FROM payments
----
-- expect STAR_MISPLACED 1:35
INSERT INTO t SELECT STREAM UPPER(*) AS n FROM payments
----
-- expect OPERATOR_TYPES 1:29
INSERT INTO t SELECT STREAM id + 1 AS n FROM payments
----
-- expect OPERATOR_TYPES 1:52
INSERT INTO t SELECT STREAM id FROM payments WHERE id = 1
----
-- expect OPERATOR_TYPES 1:59
INSERT INTO t SELECT STREAM id FROM payments WHERE id IN (1, 2)
----
-- expect OPERAND_TYPE 1:52
INSERT INTO t SELECT STREAM id FROM payments WHERE amount LIKE 'a'
----
-- expect CONDITION_TYPE 1:52
INSERT INTO t SELECT STREAM id FROM payments WHERE amount
----
-- expect TYPE_UNKNOWN 1:40
INSERT INTO t SELECT STREAM CAST(id AS uuid) AS n FROM payments
----
-- expect CAST_IMPOSSIBLE 1:29
INSERT INTO t SELECT STREAM CAST(lines AS int) AS n FROM orders
----
-- expect NOT_AN_ARRAY 1:57
INSERT INTO t SELECT STREAM id AS n FROM orders LATERAL id AS x
----
-- expect NAME_TWICE 1:66
INSERT INTO t SELECT STREAM id AS n FROM orders LATERAL codes AS orders
----
-- expect STAR_OF_SCALAR 1:29
INSERT INTO t SELECT STREAM id.* FROM payments
----
-- expect STAR_WITH_GROUP 1:29
INSERT INTO t SELECT STREAM *, COUNT(*) AS n FROM payments GROUP BY id
----
-- expect PROJECTION_TWICE 1:33
INSERT INTO t SELECT STREAM id, id FROM payments
----
-- expect PROJECTION_OVERLAPS 1:38
INSERT INTO t SELECT STREAM id AS a, id AS a.b FROM payments
----
-- expect PROJECTION_OVERLAPS 1:33
INSERT INTO t SELECT STREAM id, ok AS _value FROM payments
----
-- expect PROJECTION_TARGET 1:35
INSERT INTO t SELECT STREAM id AS _offset FROM payments
----
-- expect VALUE_MISSING 1:29
INSERT INTO t SELECT STREAM id AS _key FROM payments
----
-- expect NAME_TWICE 1:50
WITH a AS (SELECT STREAM id FROM payments); WITH a AS (SELECT STREAM id FROM payments); INSERT INTO t SELECT STREAM * FROM a
----
-- expect NAME_SHADOWS_TOPIC 1:57
WITH a AS (SELECT STREAM id FROM payments); INSERT INTO a SELECT STREAM * FROM a
----
-- expect AGGREGATE_MISPLACED 1:52
INSERT INTO t SELECT STREAM id FROM payments WHERE COUNT(*) > 1
----
-- expect AGGREGATE_MISPLACED 1:33
INSERT INTO t SELECT STREAM SUM(COUNT(*)) AS n FROM payments GROUP BY id
----
-- expect AGGREGATE_MISSING 1:46
INSERT INTO t SELECT STREAM id FROM payments GROUP BY id
----
-- expect NOT_GROUPED 1:29
INSERT INTO t SELECT STREAM ok, COUNT(*) AS n FROM payments GROUP BY id
----
-- expect KEY_IN_AGGREGATE 1:29
INSERT INTO t SELECT STREAM id AS _key, COUNT(*) AS n FROM payments GROUP BY id
----
-- expect ARGUMENT_VALUE 1:41
INSERT INTO t SELECT STREAM COLLECT(id, 10001) AS n FROM payments GROUP BY id
----
-- expect ARGUMENT_NOT_CONSTANT 1:40
INSERT INTO t SELECT STREAM MAXK(page, ms) AS n FROM clicks GROUP BY page
----
-- expect NULL_OPERAND 1:29
INSERT INTO t SELECT STREAM speed * 2 AS n FROM vehicles
----
-- expect NULL_OPERAND 1:33
INSERT INTO t SELECT STREAM ABS(speed) AS n FROM vehicles
----
-- expect FEATURE_UNSUPPORTED 1:28
INSERT INTO t SELECT TABLE id AS _key, id FROM payments
----
-- expect FEATURE_UNSUPPORTED 1:66
INSERT INTO t SELECT STREAM COUNT(*) AS n FROM payments GROUP BY SLIDING(1,m), id
----
-- expect HEADER_NOT_CONSTANT 1:44
INSERT INTO t SELECT STREAM HEADERASSTRING(id) AS n FROM payments
----
-- expect FORMAT_MISFIT 1:30
INSERT INTO t STORE VALUE AS PROTOBUF SELECT STREAM id AS _value FROM payments
----
-- expect FORMAT_MISFIT 1:30
INSERT INTO t STORE VALUE AS LONG SELECT STREAM id FROM payments
----
-- expect FORMAT_CONTRADICTS 1:30
INSERT INTO t SELECT id FROM payments WHERE _vtype=STRING
----
-- expect SETTING_UNKNOWN 1:5
SET nope=1; INSERT INTO t SELECT STREAM * FROM payments
----
-- expect SETTING_INVALID 1:16
SET autocreate=maybe; INSERT INTO t SELECT STREAM * FROM payments
----
-- expect SETTING_INVALID 1:11
SET grace=soon; INSERT INTO t SELECT STREAM * FROM payments
----
-- expect SETTING_TWICE 1:23
SET partitions=1; SET partitions=2; INSERT INTO t SELECT STREAM * FROM payments
----
-- expect FEATURE_UNSUPPORTED 1:5
SET consumer.group.id=x; INSERT INTO t SELECT STREAM * FROM payments
----
-- expect FEATURE_UNSUPPORTED 1:5
SET sasl.jaas.config='x'; INSERT INTO t SELECT STREAM * FROM payments
----
-- expect FEATURE_UNSUPPORTED 1:5
SET default.timestamp.extractor='x'; INSERT INTO t SELECT STREAM * FROM payments
----
-- expect SETTING_INVALID 1:15
SET linger.ms=soon; INSERT INTO t SELECT STREAM * FROM payments
----
-- expect SETTING_INVALID 1:21
SET isolation.level=all; INSERT INTO t SELECT STREAM * FROM payments
----
-- expect SETTING_INVALID 1:16
SET check.crcs=1; INSERT INTO t SELECT STREAM * FROM payments
----
-- expect SETTING_INVALID 1:31
SET rocksdb.write.buffer.size=1000; INSERT INTO t SELECT STREAM * FROM payments
----
-- expect SETTING_UNKNOWN 1:5
SET rocksdb.block.size=4096; INSERT INTO t SELECT STREAM * FROM payments
----
-- expect SETTING_UNKNOWN 1:5
SET consumer.linger.ms=5; INSERT INTO t SELECT STREAM * FROM payments
----
-- expect FUNCTION_UNKNOWN 1:29
INSERT INTO t SELECT STREAM `to upper`(id) AS x FROM payments
----
-- expect FEATURE_UNSUPPORTED 1:5
SET group.id=x; INSERT INTO t SELECT STREAM * FROM payments
----
-- expect FINAL_WITHOUT_WINDOW 1:73
SET emit=final; INSERT INTO t SELECT STREAM COUNT(*) AS n FROM payments GROUP BY id
----
-- expect GENERATIONS_MIXED 1:15
INSERT INTO t SELECT COUNT(*) AS n FROM payments WINDOW BY TUMBLE 1m GROUP BY id
----
-- expect WINDOW_WITHOUT_AGGREGATE 1:46
INSERT INTO t SELECT STREAM id FROM payments GRACE BY 10s
----
-- expect CLAUSE_UNSUPPORTED 1:54
CREATE TABLE payments(id string) FORMAT(BYTES, JSON) PROPERTIES(partitions=1); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect TABLE_INVALID 1:14
CREATE TABLE elsewhere(id string) FORMAT(BYTES, JSON); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect NAME_TWICE 1:64
CREATE TABLE payments(a int) FORMAT(BYTES, JSON); CREATE TABLE payments(a int) FORMAT(BYTES, JSON); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect NAME_TWICE 1:30
CREATE TABLE payments(a int, a.b int) FORMAT(BYTES, JSON); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect NAME_TWICE 1:30
CREATE TABLE payments(a int, a int) FORMAT(BYTES, JSON); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect TABLE_INVALID 1:38
CREATE TABLE payments(_key.a string, _key.b string, c int) FORMAT(STRING, JSON); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect TABLE_INVALID 1:23
CREATE TABLE payments(_key.a int, c int) FORMAT(STRING, JSON); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect TABLE_INVALID 1:35
CREATE TABLE payments(_key.a int, c int) FORMAT(JSON, STRING); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect TABLE_INVALID 1:51
CREATE TABLE payments(_key string) FORMAT(STRING, JSON); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect TABLE_INVALID 1:35
CREATE TABLE payments(_value int, f int) FORMAT(STRING, JSON); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect TABLE_INVALID 1:23
CREATE TABLE payments(`a b` int) FORMAT(STRING, AVRO); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect TABLE_INVALID 1:23
CREATE TABLE payments(a int[]) FORMAT(STRING, CSV); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect TYPE_UNKNOWN 1:25
CREATE TABLE payments(a money) FORMAT(STRING, JSON); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect SQL_SYNTAX 1:23
CREATE TABLE payments(a[0] int) FORMAT(STRING, JSON); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect SQL_SYNTAX 1:23
CREATE TABLE payments() FORMAT(STRING, JSON); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect SQL_SYNTAX 1:29
CREATE TABLE payments(a int); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect SQL_SYNTAX 1:8
CREATE VIEW payments(a int) FORMAT(STRING, JSON); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect TABLE_INVALID 1:45
CREATE TABLE payments(a int) FORMAT(STRING, PROTOBUF); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect FORMAT_UNSUPPORTED 1:49
CREATE TABLE payments(_key.a int, a int) FORMAT(CSV, JSON); INSERT INTO t SELECT STREAM * FROM payments
----
-- expect FORMAT_CONTRADICTS 1:79
CREATE TABLE payments(a int) FORMAT(BYTES, JSON); INSERT INTO t SELECT a FROM payments WHERE _vtype=STRING
