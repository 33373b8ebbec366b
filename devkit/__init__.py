"""Starts real things for tests, one way: `Process`. The broker and others are small users of it."""
