"""Programs on Spark, with the in-memory engine."""
