"""The engine beside Kafka Streams: the same work, the same broker, the same cores. See README.md."""
