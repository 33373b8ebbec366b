"""All names of the Java module `image/jvm` that Python uses.

Python uses the module in four ways. The class EXTENSIONS registers FUNCTIONS in each session; `jvm.call.call`
returns columns of them. The classes in CALLED are called through py4j (`jvm.call.java_class`). The classes in
SETTING_VALUES are values of settings of Spark, Hadoop and Kafka, which load them. PROGRAMS are started with `java`. In
Java these classes have the annotation `@PythonEntry`; `tests/repo/test_java_entries.py`
compares both lists.
"""

from __future__ import annotations

from typing import Final

PACKAGE: Final = "com.lsqlrunner"

# --- functions of Spark SQL; com.lsqlrunner.extension.LsqlExtensions describes their parameters ---

EXTENSIONS: Final = f"{PACKAGE}.extension.LsqlExtensions"
"""The value of `spark.sql.extensions`."""

DECODE_JSON: Final = "lsql_decode_json"
ENCODE_JSON: Final = "lsql_encode_json"
EXTEND_JSON: Final = "lsql_extend_json"
CANONICAL_JSON: Final = "lsql_canonical_json"
DECODE_AVRO: Final = "lsql_decode_avro"
ENCODE_AVRO: Final = "lsql_encode_avro"
DECODE_PROTOBUF: Final = "lsql_decode_protobuf"
ENCODE_PROTOBUF: Final = "lsql_encode_protobuf"
DECODE_CSV: Final = "lsql_decode_csv"
DECODE_TEXT: Final = "lsql_decode_text"
DECODE_XML: Final = "lsql_decode_xml"
REQUIRE_LENGTH: Final = "lsql_require_length"
READ_HEADER: Final = "lsql_read_header"
PACK_ROW: Final = "lsql_pack_row"
UNPACK_ROW: Final = "lsql_unpack_row"
ATTEMPT: Final = "lsql_attempt"
FIRST_OF_RECORD: Final = "lsql_first_of_record"
ACCEPTED_TIME: Final = "lsql_accepted_time"
LIMIT_RECORD_SIZE: Final = "lsql_limit_record_size"
KNOWN_NOT_NULL: Final = "lsql_known_not_null"
SHOW_VALUE: Final = "lsql_show_value"
KEEP_VALUES: Final = "lsql_keep_values"
KEEP_VALUES_WITH_RETRACTION: Final = "lsql_keep_values_with_retraction"
EXACT_SUM: Final = "lsql_exact_sum"
UTF16_LENGTH: Final = "lsql_utf16_length"
UTF16_INDEX_OF: Final = "lsql_utf16_index_of"
UTF16_TAKE: Final = "lsql_utf16_take"
UTF16_DROP: Final = "lsql_utf16_drop"
CALL_CLASS: Final = "lsql_call_class"
ADVANCED_TIME: Final = "lsql_advanced_time"
LATE_WATERMARK: Final = "lsql_late_watermark"
READ_NUMERIC: Final = "lsql_read_numeric"
NUMERIC_ARITHMETIC: Final = "lsql_numeric_arithmetic"

FUNCTIONS: Final = frozenset(
    {
        *(DECODE_JSON, ENCODE_JSON, EXTEND_JSON, DECODE_AVRO, ENCODE_AVRO, DECODE_PROTOBUF, ENCODE_PROTOBUF),
        CANONICAL_JSON,
        *(DECODE_CSV, DECODE_TEXT, DECODE_XML, REQUIRE_LENGTH, READ_HEADER, PACK_ROW, UNPACK_ROW),
        *(ATTEMPT, FIRST_OF_RECORD, ACCEPTED_TIME, LIMIT_RECORD_SIZE, KNOWN_NOT_NULL, SHOW_VALUE),
        *(KEEP_VALUES, KEEP_VALUES_WITH_RETRACTION, EXACT_SUM),
        *(UTF16_LENGTH, UTF16_INDEX_OF, UTF16_TAKE, UTF16_DROP),
        *(CALL_CLASS, ADVANCED_TIME, LATE_WATERMARK, READ_NUMERIC, NUMERIC_ARITHMETIC),
    }
)

# --- classes that are called through py4j ---

REGISTRY_CLASS: Final = f"{PACKAGE}.registry.Registry"
DECODE_AVRO_CLASS: Final = f"{PACKAGE}.avro.DecodeAvro"
TOPIC_OUTPUT: Final = f"{PACKAGE}.topic.TopicOutput"
CONTINUOUS_QUERY: Final = f"{PACKAGE}.continuous.ContinuousQuery"
BATCH_TRIGGER: Final = f"{PACKAGE}.batch.BatchTrigger"
BATCH_LISTENER: Final = f"{PACKAGE}.batch.BatchListener"
SINK_WRITER: Final = f"{PACKAGE}.sink.SinkWriter"
SESSIONS: Final = f"{PACKAGE}.operators.Sessions"
TABLE_GROUPS: Final = f"{PACKAGE}.operators.TableGroups"
TABLE_JOIN: Final = f"{PACKAGE}.operators.TableJoin"
TRACK_CHANGES: Final = f"{PACKAGE}.operators.TrackChanges"
CONSOLIDATE_CHANGES: Final = f"{PACKAGE}.operators.ConsolidateChanges"
LOOKUP: Final = f"{PACKAGE}.operators.Lookup"
STREAM_JOIN: Final = f"{PACKAGE}.operators.StreamJoin"
JVM_MEMORY: Final = f"{PACKAGE}.memory.JvmMemory"
FULL_COLLECTIONS: Final = f"{PACKAGE}.memory.FullCollections"
ERROR_CHAIN: Final = f"{PACKAGE}.errors.ErrorChain"
CLUSTER: Final = f"{PACKAGE}.workers.Cluster"
BROKER_CHANNEL: Final = f"{PACKAGE}.kafka.BrokerChannel"
OWNER: Final = f"{PACKAGE}.fs.Owner"
OPEN_STATE_STORES: Final = f"{PACKAGE}.realtime.OpenStateStores"
STORE_READER: Final = f"{PACKAGE}.reads.StoreReader"
STATE_CONVERSION: Final = f"{PACKAGE}.reads.StateConversion"
STATE_FILES: Final = f"{PACKAGE}.fs.StateFiles"

TICK_SOURCE: Final = f"{PACKAGE}.tick.Ticks"
"""Also the name of a data source, for `readStream.format`."""

CALLED: Final = frozenset(
    {
        *(REGISTRY_CLASS, DECODE_AVRO_CLASS, TOPIC_OUTPUT, BATCH_TRIGGER, CONTINUOUS_QUERY, SINK_WRITER, ERROR_CHAIN),
        TICK_SOURCE,
        *(SESSIONS, TABLE_GROUPS, TABLE_JOIN, TRACK_CHANGES, CONSOLIDATE_CHANGES, LOOKUP, STREAM_JOIN),
        *(JVM_MEMORY, FULL_COLLECTIONS, BATCH_LISTENER, BROKER_CHANNEL, CLUSTER, OWNER, STATE_FILES),
        *(OPEN_STATE_STORES, STORE_READER, STATE_CONVERSION),
    }
)

# --- classes that are values of settings ---

FILE_SYSTEM: Final = f"{PACKAGE}.fs.DurableFileSystem"
ABSTRACT_FILE_SYSTEM: Final = f"{PACKAGE}.fs.DurableFs"
CONNECTOR_FILE_SYSTEM: Final = f"{PACKAGE}.fs.ConnectorLocalFileSystem"
CONDITIONAL_FILE_MANAGER: Final = f"{PACKAGE}.fs.ConditionalFileManager"
TOPIC_SINK: Final = f"{PACKAGE}.connector.TopicSink"
TOPIC_SOURCE: Final = f"{PACKAGE}.connector.TopicSource"
SSL_ENGINE_FACTORY: Final = f"{PACKAGE}.tls.PemSslEngineFactory"
SHUFFLE_MANAGER: Final = f"{PACKAGE}.realtime.RowExchangeManager"
REGISTRY_PLUGIN: Final = f"{PACKAGE}.registry.RegistryPlugin"
MARK_PLUGIN: Final = f"{PACKAGE}.marks.MarkPlugin"
"""The values of `spark.plugins` of a session whose tasks run on workers."""

SETTING_VALUES: Final = frozenset(
    {
        *(EXTENSIONS, FILE_SYSTEM, ABSTRACT_FILE_SYSTEM, CONNECTOR_FILE_SYSTEM, CONDITIONAL_FILE_MANAGER),
        *(TOPIC_SINK, TOPIC_SOURCE, SSL_ENGINE_FACTORY, REGISTRY_PLUGIN, MARK_PLUGIN, SHUFFLE_MANAGER),
    }
)

# --- properties of the JVM ---

INCLUDE_VALUES: Final = "lsql.errors.includeValues"
"""Whether error texts include values of records: `true` or `false`; com.lsqlrunner.errors.ShownValue reads it."""

# --- the programs ---

BROKER_REQUESTS: Final = f"{PACKAGE}.kafka.BrokerRequests"
WORKER_PROGRAM: Final = f"{PACKAGE}.workers.WorkerProgram"

PROGRAMS: Final = frozenset({BROKER_REQUESTS, WORKER_PROGRAM})

# --- conditions of errors; com.lsqlrunner.errors.Condition describes them and their parameters ---

CONDITION_ENUM: Final = f"{PACKAGE}.errors.Condition"

MALFORMED_RECORD: Final = "MALFORMED_RECORD_IN_PARSING"
HEADER_INVALID: Final = "LSQL_HEADER_INVALID"
SCHEMA_UNUSABLE: Final = "LSQL_SCHEMA_UNUSABLE"
VALUE_DOES_NOT_FIT_SCHEMA: Final = "LSQL_VALUE_DOES_NOT_FIT_SCHEMA"
FUNCTION_FAILED: Final = "LSQL_FUNCTION_FAILED"
FUNCTION_UNUSABLE: Final = "LSQL_FUNCTION_UNUSABLE"
RECORD_TOO_LARGE: Final = "LSQL_RECORD_TOO_LARGE"
TIMESTAMP_REFUSED: Final = "LSQL_TIMESTAMP_REFUSED"
RECORD_EXCEEDS_HEAP: Final = "LSQL_RECORD_EXCEEDS_HEAP"
GROUP_TOO_LARGE: Final = "LSQL_GROUP_TOO_LARGE"
REGISTRY_UNREACHABLE: Final = "LSQL_REGISTRY_UNREACHABLE"
REGISTRY_REFUSED: Final = "LSQL_REGISTRY_REFUSED"
REGISTRY_RESPONSE_TOO_LARGE: Final = "LSQL_REGISTRY_RESPONSE_TOO_LARGE"
SINK_UNREACHABLE: Final = "LSQL_SINK_UNREACHABLE"
SINK_REFUSED: Final = "LSQL_SINK_REFUSED"
SINK_CERTIFICATE_UNTRUSTED: Final = "LSQL_SINK_CERTIFICATE_UNTRUSTED"
SINK_TABLE_MISMATCH: Final = "LSQL_SINK_TABLE_MISMATCH"
SINK_ROW_REFUSED: Final = "LSQL_SINK_ROW_REFUSED"
SINK_FAILED: Final = "LSQL_SINK_FAILED"
BROKER_UNREACHABLE: Final = "LSQL_BROKER_UNREACHABLE"
BROKER_LOGIN_REFUSED: Final = "LSQL_BROKER_LOGIN_REFUSED"
BROKER_RIGHTS_MISSING: Final = "LSQL_BROKER_RIGHTS_MISSING"
BROKER_SETTINGS_INVALID: Final = "LSQL_BROKER_SETTINGS_INVALID"
STORE_UNREACHABLE: Final = "LSQL_STORE_UNREACHABLE"
STORE_REFUSED: Final = "LSQL_STORE_REFUSED"
STORE_WITHOUT_CONNECTOR: Final = "LSQL_STORE_WITHOUT_CONNECTOR"
STORE_FAILED: Final = "LSQL_STORE_FAILED"
TOPIC_RECREATED: Final = "LSQL_TOPIC_RECREATED"
OFFSET_MISSING: Final = "LSQL_OFFSET_MISSING"
TOPIC_SHORTER: Final = "LSQL_TOPIC_SHORTER"
TOPIC_EXISTS: Final = "LSQL_TOPIC_EXISTS"
GROUP_IN_USE: Final = "LSQL_GROUP_IN_USE"
BROKER_FAILED: Final = "LSQL_BROKER_FAILED"

CONDITIONS: Final = frozenset(
    {
        *(MALFORMED_RECORD, HEADER_INVALID, SCHEMA_UNUSABLE, VALUE_DOES_NOT_FIT_SCHEMA),
        *(RECORD_TOO_LARGE, TIMESTAMP_REFUSED, GROUP_TOO_LARGE),
        RECORD_EXCEEDS_HEAP,
        *(FUNCTION_FAILED, FUNCTION_UNUSABLE),
        *(REGISTRY_UNREACHABLE, REGISTRY_REFUSED, REGISTRY_RESPONSE_TOO_LARGE),
        *(SINK_UNREACHABLE, SINK_REFUSED, SINK_CERTIFICATE_UNTRUSTED, SINK_TABLE_MISMATCH),
        *(SINK_ROW_REFUSED, SINK_FAILED),
        *(BROKER_UNREACHABLE, BROKER_LOGIN_REFUSED, BROKER_RIGHTS_MISSING, BROKER_SETTINGS_INVALID, BROKER_FAILED),
        *(STORE_UNREACHABLE, STORE_REFUSED, STORE_WITHOUT_CONNECTOR, STORE_FAILED),
        *(TOPIC_RECREATED, OFFSET_MISSING, TOPIC_SHORTER, TOPIC_EXISTS, GROUP_IN_USE),
    }
)
