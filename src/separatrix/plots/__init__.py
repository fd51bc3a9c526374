"""Pictures of answers. Each takes an answer and returns the axes it drew on; every number can be had without it."""

from separatrix.plots.margins import margin_distribution, nearest_samples

__all__ = ["margin_distribution", "nearest_samples"]
