"""The test suite: a folder for each layer."""
