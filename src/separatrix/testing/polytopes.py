"""Convex polytopes: the shortest step into one, exactly."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

Array = NDArray[np.float64]


def shortest_step(normals: Array, levels: Array, within: float = math.inf) -> Array | None:
    """Shortest r in ℓ2 with ``normals @ r >= levels``; None where no such r has length at most ``within``.

    The dual is a problem of non-negative least squares, min ‖[Gᵀ; hᵀ] u − e‖ over u ≥ 0 with e the last unit vector,
    whose squared residual is 1 / (1 + ‖r‖²) (Lawson and Hanson, 1974, chapter 23). Lengths are scaled by ``within``,
    so that a residual below one half means "too far". The binding rows are then solved once more as equations.

    Args:
        normals: Rows of the constraints ``(k, d)``.
        levels: What each row must reach ``(k,)``.
        within: Longest step of interest.
    """
    sizes = np.linalg.norm(normals, axis=1)
    if np.any((sizes == 0) & (levels > 0)):
        return None
    binding = sizes > 0
    rows, heights = normals[binding] / sizes[binding, None], levels[binding] / sizes[binding]
    highest = heights.max(initial=0.0)
    if highest <= 0:
        return np.zeros(normals.shape[1])
    if highest > within:
        return None
    scale = within if math.isfinite(within) else highest
    multipliers = _multipliers(rows, heights / scale)
    remainder = 1 - float(heights @ multipliers) / scale
    if remainder < (0.5 * (1 - 1e-9) if math.isfinite(within) else 1e-12):
        return None
    rough = scale * (multipliers @ rows) / remainder
    return _solved(rows, heights, multipliers > 0, rough)


def _multipliers(rows: Array, heights: Array) -> Array:
    system = np.vstack([rows.T, heights])
    target = np.zeros(len(system))
    target[-1] = 1.0
    solution: Array = nnls(system, target, maxiter=100 * len(rows))[0]
    return solution


def _solved(rows: Array, heights: Array, active: NDArray[np.bool_], rough: Array) -> Array:
    """The least-norm solution of the active rows, unless rounding has made them the wrong ones."""
    exact = np.asarray(np.linalg.lstsq(rows[active], heights[active], rcond=None)[0], dtype=np.float64)
    slack = 1e-9 * (1 + np.abs(heights).max())
    return exact if np.all(rows @ exact >= heights - slack) else rough
