"""lsql-runner compared with Kafka Streams and Flink SQL. See README.md."""
