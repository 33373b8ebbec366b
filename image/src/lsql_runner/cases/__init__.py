"""Case files: a program, input records, expected records. `lsql test` runs them in memory or on brokers."""
