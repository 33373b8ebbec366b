"""lsql-runner: one streaming-SQL program as a Kafka processor."""
