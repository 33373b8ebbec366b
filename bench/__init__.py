"""The throughput of lsql-runner compared with Kafka Streams. See README.md."""
