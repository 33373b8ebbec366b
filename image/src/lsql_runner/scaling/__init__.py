"""The number of workers of a processor, from its lag: the policy, and a simulation of it. Pure functions."""
