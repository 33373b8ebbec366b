"""Sinks on real servers: PostgreSQL and Redis."""
