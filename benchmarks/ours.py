"""Separatrix's searches: the fast setting, raw and refined, the defaults, and what hard networks need."""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import Tensor, nn

import separatrix as sx
from benchmarks.methods import Method
from separatrix.norms import Norm

HARD = ("mnist-lenet", "mnist-lenet-robust")
FAST = sx.DeepFool(candidates=5)
PAIR = sx.Best((FAST, sx.DDN(steps=100)))


def ends(model: nn.Module, points: Tensor, own: Tensor, norm: Norm, **settings: Any) -> Tensor:
    """Where ``minimal_perturbation`` met the boundary; NaN where it did not."""
    return sx.minimal_perturbation(model, points, norm=norm, **settings).end


def ours(name: str, nets: tuple[str, ...] = (), **settings: Any) -> Method:
    """A method that passes these settings to ``minimal_perturbation``."""
    return Method(f"Separatrix {name}", partial(ends, **settings), nets=nets, ours=True)


OURS = (
    ours("DeepFool(5), raw", method=FAST, refine=None),
    ours("DeepFool(5) + 5 slides", method=FAST, refine=sx.Slide(steps=5)),
    ours("DeepFool(5) + slides", method=FAST),
    ours("DeepFool(5) + 40 slides", method=FAST, refine=sx.Slide(steps=40)),
    ours("DeepFool(5) + slides, 3 starts", method=FAST, starts=3),
    ours("DeepFool, raw", refine=None),
    ours("DeepFool + slides (default)"),
    ours("DDN(20) + slides", method=sx.DDN(steps=20)),
    ours("DDN(100), raw", nets=HARD, method=sx.DDN(steps=100), refine=None),
    ours("DDN(100) + slides", method=sx.DDN(steps=100)),
    ours("Best of DeepFool(5), DDN(100)", nets=HARD, method=PAIR),
    ours("Best of DeepFool(5), DDN(100), 3 starts", nets=HARD, method=PAIR, starts=3),
)


def thorough(model: nn.Module, points: Tensor, own: Tensor, norm: Norm) -> Tensor:
    """Our part of the stored reference: the shortest of ten walks, each slid forty times."""
    return ends(model, points, own, norm, starts=10, refine=sx.Slide(steps=40))
