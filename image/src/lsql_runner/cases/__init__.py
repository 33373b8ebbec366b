"""Case files: a program, input and expected records. `lsql test` runs them with the in-memory engine or on brokers."""
