"""Labelled points to measure classifiers on: every point keeps its id, and pixels lie in [0, 1]."""

from separatrix.data.sources import DataSet, load_data

__all__ = ["DataSet", "load_data"]
