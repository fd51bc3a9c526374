"""How far is the boundary along given directions?"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from separatrix.boundary import BoundaryPoints
from separatrix.checks import number_each, require, require_count, require_each, require_points, sample_ids
from separatrix.classifier import Model, device_of, logits_of, require_model
from separatrix.fields import Margin
from separatrix.norms import L2, per_sample
from separatrix.precision import full_precision
from separatrix.search.answer import answer
from separatrix.search.base import Crossings, Problem, Tally, rounding, still
from separatrix.search.batching import in_batches
from separatrix.search.ray import pull_back
from separatrix.search.starts import Attempt

_SCANS = 64
_NEAREST = 1e-3  # of the radius: where the scan begins


def line_distance(
    model: Model,
    points: Tensor,
    directions: Tensor,
    *,
    radius: float | Tensor | None = None,
    batch_size: int | None = None,
    ids: Tensor | None = None,
) -> BoundaryPoints:
    """How far along a line, forwards or backwards, the model's answer changes: an upper bound, in ℓ2.

    The line is scanned at 64 geometric steps from a thousandth of the radius to the radius, on both sides at once;
    the first crossing of either sign is brought to the boundary by bisection. A sliver of another region thinner than
    a step can be missed. A random direction gives the random-noise regime. The model needs no gradient; without one,
    normals are NaN.

    Args:
        model: Maps inputs ``(n, *shape)`` to logits ``(n, c)``; in eval mode.
        points: Inputs ``(n, *shape)``.
        directions: One direction a point ``(n, *shape)``, or one for all ``(*shape)``; of any length but zero.
        radius: How far to look: a number, or one a point ``(n,)``. Four times the point's own length if not given.
        batch_size: Points measured at once; None is all.
        ids: Whole numbers that name the points; 0 … n − 1 if not given.
    """
    require_points(points)
    if batch_size is not None:
        require_count(batch_size, "batch_size")
    with full_precision():
        require_model(model, points, gradient=False)
        lines = _Lines(model, points, _unit(directions, points), _radii(radius, points), sample_ids(ids, points))
        return in_batches(len(points), batch_size, lines.measure, points.device)


@dataclass(frozen=True, eq=False)
class _Lines:
    """A question that has passed the door."""

    model: Model
    points: Tensor
    directions: Tensor
    radius: Tensor
    ids: Tensor

    def measure(self, rows: slice) -> BoundaryPoints:
        """The answer for some rows, on the model's device."""
        device = device_of(self.model, self.points)
        start, direction, radius, ids = (
            tensor[rows].detach().to(device, copy=True)
            for tensor in (self.points, self.directions, self.radius, self.ids)
        )
        with torch.no_grad():
            logits = logits_of(self.model, start.clone())
        tally, everyone = Tally.zeros(len(start), device), torch.arange(len(start), device=device)
        margin = Margin(self.model, own=logits.argmax(1))
        problem = Problem(margin, start, L2, None, rounding(logits, margin), tally, everyone)
        tally.forwards.add_(1)
        crossings = _scan(problem, direction, radius, margin.of(logits))
        return answer(problem, Attempt(crossings, crossings.length), crossings.length * torch.nan, logits, ids)


def _scan(problem: Problem, direction: Tensor, radius: Tensor, start_value: Tensor) -> Crossings:
    """The first crossing of either sign, brought back to the boundary."""
    best = _already_there(problem, start_value)
    shares = torch.logspace(torch.tensor(_NEAREST).log10().item(), 0, _SCANS, dtype=radius.dtype).tolist()
    active, before = still(~best.found), {1: start_value, -1: start_value}
    last = 0.0
    for share in shares:
        if len(active) == 0:
            break
        asked = problem[active]
        for sign in (1, -1):
            end = asked.start + per_sample(sign * share * radius[active], asked.start) * direction[active]
            value = asked.value(end)
            length = torch.where(value >= 0, share * radius[active], torch.inf)
            near = torch.full_like(length, last / share)
            met = pull_back(asked, Crossings(end, length, value), before[sign][active], near=near)
            best.put(active, met)
            before[sign] = before[sign].index_copy(0, active, value)
        problem.tally.steps[active] += 1
        last = share
        active = active[still(~best.found[active])]
    return best


def _already_there(problem: Problem, start_value: Tensor) -> Crossings:
    """Starts that lie on the boundary are their own crossings."""
    length = torch.where(start_value >= 0, torch.zeros_like(start_value), torch.inf)
    crossings = Crossings.none(problem.start)
    crossings.put(problem.rows, Crossings(problem.start, length, start_value))
    return crossings


def _unit(directions: Tensor, points: Tensor) -> Tensor:
    require(isinstance(directions, Tensor), "directions", "be a torch tensor", type(directions).__name__)
    require(directions.dtype == points.dtype, "directions", f"be {points.dtype} as the points", directions.dtype)
    single = directions.shape == points.shape[1:]
    fits = single or directions.shape == points.shape
    rule = f"have shape {tuple(points.shape)}, or {tuple(points.shape[1:])} for all points"
    require(fits, "directions", rule, f"shape {tuple(directions.shape)}")
    each = directions[None] if single else directions
    length = L2.length(each)
    flaws = {"zero": length == 0, "NaN": length.isnan(), "infinite": length.isinf()}
    got = ", ".join(f"{int(rows.sum())} {flaw}" for flaw, rows in flaws.items() if rows.any())
    require(not got, "directions", "be finite and not zero", f"{got} of {len(each)}")
    return L2.steepest(each).expand_as(points)


def _radii(radius: float | Tensor | None, points: Tensor) -> Tensor:
    if radius is None:
        length = 4 * L2.length(points)
        return torch.where(length > 0, length, torch.ones_like(length))
    lengths = number_each(radius, "radius", points)
    require_each((lengths > 0) & (lengths < torch.inf), "radius", "be finite and above 0", lengths)
    return lengths
