"""Pictures of answers. Each draws what it is given and computes nothing; every number can be had without it."""

from separatrix.plots.curves import block_margins, compared_dots, cumulative_margins, lines
from separatrix.plots.margins import margin_distribution, nearest_samples
from separatrix.plots.pictures import before_and_after

__all__ = [
    "before_and_after",
    "block_margins",
    "compared_dots",
    "cumulative_margins",
    "lines",
    "margin_distribution",
    "nearest_samples",
]
