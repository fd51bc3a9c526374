"""How the learning rate moves while a network is trained."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal

Schedule = Literal["one-cycle", "cosine", "triangular", "constant"]

_WARM, _FIRST = 0.3, 0.04  # one-cycle: the share of the training that warms up, and the share of the peak it starts at
_TOP = 0.4  # triangular: where the peak is


def rate_share(schedule: Schedule, progress: float) -> float:
    """Share of the recipe's rate, in [0, 1], at a point of the training between 0, its start, and 1, its end.

    ``"one-cycle"`` climbs from 0.04 to 1 over the first 30 % and falls to 0, both as half a cosine;
    ``"cosine"`` falls from 1 to 0 so; ``"triangular"`` climbs from 0 to 1 over the first 40 % and falls to 0 in
    straight lines; ``"constant"`` stays at 1.
    """
    return SCHEDULES[schedule](progress)


def _fall(progress: float) -> float:
    return (1 + math.cos(math.pi * progress)) / 2


def _one_cycle(progress: float) -> float:
    if progress < _WARM:
        return _FIRST + (1 - _FIRST) * (1 - _fall(progress / _WARM))
    return _fall((progress - _WARM) / (1 - _WARM))


def _triangular(progress: float) -> float:
    return min(progress / _TOP, (1 - progress) / (1 - _TOP))


SCHEDULES: Mapping[str, Callable[[float], float]] = {
    "one-cycle": _one_cycle,
    "cosine": _fall,
    "triangular": _triangular,
    "constant": lambda _: 1.0,
}
