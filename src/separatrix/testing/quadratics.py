"""Quadratic functions: the shortest step to where one vanishes."""

from __future__ import annotations

import torch
from torch import Tensor


def shortest_descent(value: Tensor, slopes: Tensor, bends: Tensor, halvings: int = 80) -> Tensor:
    """Shortest step ``(n, d)`` to zero of ``value + Σ slope_i r_i + ½ bend_i r_i²``, value ≥ 0; NaN if none reaches it.

    Stationary steps are ``r_i = −μ slope_i / (1 + μ bend_i)``. The shortest has every denominator non-negative (Moré,
    1993), where the function falls as μ grows, so one bisection finds it, with μ = τ / (1 + ω τ) and ω the steepest
    downward bend. Where the slope along that bend vanishes the step may leave on either side: a slope of 1e-60 picks
    one.
    """
    downward = bends.amin(1, keepdim=True).neg().clamp_min(0)
    steepest = torch.zeros_like(bends).scatter(1, bends.argmin(1, keepdim=True), 1.0) * (downward > 0)
    slopes = torch.where((steepest > 0) & (slopes == 0), 1e-60, slopes)

    def step(exponent: Tensor) -> Tensor:
        reach = exponent[:, None].exp2()
        return -reach * slopes / (1 + reach * (downward + bends))

    def remaining(exponent: Tensor) -> Tensor:
        move = step(exponent)
        return value + (slopes * move + bends * move**2 / 2).sum(1)

    low, high = torch.full_like(value, -300.0), torch.full_like(value, 300.0)
    reached = remaining(high) <= 0
    for _ in range(halvings):
        middle = (low + high) / 2
        above = remaining(middle) > 0
        low, high = torch.where(above, middle, low), torch.where(above, high, middle)
    return step(high).where(reached[:, None], torch.nan)
