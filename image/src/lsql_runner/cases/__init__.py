"""Case files: a program, input records, expected records. They run without Kafka (`lsql test`) and, in tests, on it."""
