"""Ground truth: classifiers whose geometry is known exactly, and the exact distances of tiny ReLU networks."""

from separatrix.testing.geometry import Affine, Ball, Quadric, TwoBalls
from separatrix.testing.polytopes import shortest_step
from separatrix.testing.relu import exact_distance, tiny_network

__all__ = ["Affine", "Ball", "Quadric", "TwoBalls", "exact_distance", "shortest_step", "tiny_network"]
