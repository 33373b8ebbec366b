"""Servers, fakes, models and generators for the tests, the demo and the benchmark. Servers are started by `Process`."""
