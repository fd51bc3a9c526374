"""Labelled points to measure classifiers on: every point keeps its id, and pixels lie in [0, 1]."""

from separatrix.data.catalogue import Entry, available, get
from separatrix.data.dataset import DataSet
from separatrix.data.download import Progress, download
from separatrix.data.pictures import Picture
from separatrix.data.sources import load_data
from separatrix.data.spectral import dct_flip, high_pass, low_pass
from separatrix.data.stores import Items, Pixels
from separatrix.data.synthetic import FeatureSet, two_class, two_feature

__all__ = [
    "DataSet",
    "Entry",
    "FeatureSet",
    "Items",
    "Picture",
    "Pixels",
    "Progress",
    "available",
    "dct_flip",
    "download",
    "get",
    "high_pass",
    "load_data",
    "low_pass",
    "two_class",
    "two_feature",
]
