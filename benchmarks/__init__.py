"""Benchmarks and the networks they measure: run from a clone, not part of the installed package."""
