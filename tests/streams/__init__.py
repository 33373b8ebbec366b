"""Programs on Spark, with records in memory."""
