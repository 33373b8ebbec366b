"""The test suite: a folder for each layer, and `kit`, which starts real programs."""
