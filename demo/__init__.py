"""`make demo`: a broker, ships that report where they are, and one processor to look at."""
