"""`make demo`: a broker, ships that report their positions, and a processor."""
