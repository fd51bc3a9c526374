"""Ground truth: classifiers of exactly known geometry, tiny ReLU networks, and the contract of every search."""

from separatrix.testing.contract import check_search, small_network
from separatrix.testing.geometry import Affine, Ball, Quadric, TwoBalls
from separatrix.testing.polytopes import shortest_step
from separatrix.testing.relu import exact_distance, tiny_network

__all__ = [
    "Affine",
    "Ball",
    "Quadric",
    "TwoBalls",
    "check_search",
    "exact_distance",
    "shortest_step",
    "small_network",
    "tiny_network",
]
