"""Processors, engine and clients on real Kafka brokers and a real schema registry."""
