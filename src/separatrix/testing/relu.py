"""Tiny ReLU networks: the exact distance to their boundary, by two methods of exhaustive search."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, milp
from torch import Tensor, nn

from separatrix.checks import require
from separatrix.norms import L2, Norm
from separatrix.testing.polytopes import Array, shortest_step

Layers = list[tuple[Array, Array]]


def tiny_network(
    inputs: int,
    hidden: Sequence[int],
    classes: int,
    *,
    generator: torch.Generator,
    dtype: torch.dtype = torch.float64,
) -> nn.Sequential:
    """A random fully-connected ReLU network in eval mode, its logits centred over standard Gaussian points.

    Args:
        inputs: Input dimensions d.
        hidden: Units of each hidden layer.
        classes: Number of logits.
        generator: Draws the weights.
        dtype: Of the weights.
    """
    sizes = (inputs, *hidden, classes)
    parts: list[nn.Module] = [nn.Flatten()]
    for before, after in pairwise(sizes):
        parts += [_gaussian_layer(before, after, generator, dtype), nn.ReLU()]
    network = nn.Sequential(*parts[:-1]).eval()
    probe = torch.randn(512, inputs, generator=generator, dtype=dtype)
    with torch.no_grad():
        last = network[-1].bias
        assert isinstance(last, Tensor)
        last -= network(probe).mean(0)
    return network


def exact_distance(network: nn.Sequential, points: Tensor, norm: Norm = L2) -> Tensor:
    """Length ``(n,)``, float64, of the shortest step that lifts some rival to the own class; ``inf`` if none does.

    In ℓ2 every activation pattern within reach is visited and the point projected onto its part of the rival's region
    (exact to rounding). In ℓ∞ one mixed-integer programme a point decides all patterns at once (exact to about 1e-6 of
    the length). Time grows exponentially with the hidden units: twelve are fine.

    Args:
        network: Flatten, Linear and ReLU modules alone, linear ones first and last.
        points: Inputs ``(n, *shape)``; taken in float64, as the weights are.
        norm: L2 or Linf.
    """
    require(norm.p in (2, math.inf), "norm", "be L2 or Linf", norm)
    layers, flat = _layers(network), points.detach().flatten(1).double().cpu()
    solve = _shortest_by_pattern if norm.p == 2 else _shortest_by_programme
    lengths = [solve(layers, point) for point in flat.numpy()]
    return torch.tensor(lengths, dtype=torch.float64, device=points.device)


def _gaussian_layer(before: int, after: int, generator: torch.Generator, dtype: torch.dtype) -> nn.Linear:
    layer = nn.Linear(before, after, device="meta", dtype=dtype).to_empty(device="cpu")
    draw = torch.randn(after, before + 1, generator=generator, dtype=dtype)
    with torch.no_grad():
        layer.weight.copy_(draw[:, 1:] * math.sqrt(2 / before))
        layer.bias.copy_(draw[:, 0] / 2)
    return layer


def _layers(network: nn.Sequential) -> Layers:
    parts = [part for part in network if not isinstance(part, nn.Flatten)]
    alternate = [nn.ReLU if place % 2 else nn.Linear for place in range(len(parts))]
    sound = len(parts) % 2 == 1 and all(isinstance(part, kind) for part, kind in zip(parts, alternate, strict=True))
    got = [type(part).__name__ for part in parts]
    require(sound, "network", "alternate Linear and ReLU, Linear first and last", got)
    return [_affine(part) for part in parts[::2]]


def _affine(part: nn.Module) -> tuple[Array, Array]:
    assert isinstance(part, nn.Linear)
    weight = part.weight.detach().double().cpu().numpy()
    bias = np.zeros(len(weight)) if part.bias is None else part.bias.detach().double().cpu().numpy()
    return weight, bias


def _own(layers: Layers, point: Array) -> int:
    signal = point
    for weight, bias in layers[:-1]:
        signal = np.maximum(weight @ signal + bias, 0)
    weight, bias = layers[-1]
    return int((weight @ signal + bias).argmax())


@dataclass(frozen=True)
class _Cell:
    """Steps r that keep the units decided so far as decided; ``shortest`` is the shortest of them.

    Inputs of the layer in hand are ``slopes @ r + values``; ``rows @ r >= levels`` holds the decisions.
    """

    slopes: Array
    values: Array
    rows: Array
    levels: Array
    shortest: Array

    def split(self, slope: Array, value: float, within: float) -> Iterator[tuple[bool, _Cell]]:
        """The parts of the cell, within reach, where ``slope @ r + value`` is positive and where it is negative."""
        size = float(np.linalg.norm(slope))
        if abs(value) >= size * within or size == 0:
            yield value > 0, self
            return
        first = bool(slope @ self.shortest + value > 0)
        for positive in (first, not first):
            sign = 1.0 if positive else -1.0
            part = self.cut(sign * slope, -sign * value, within)
            if part is not None:
                yield positive, part

    def cut(self, row: Array, level: float, within: float) -> _Cell | None:
        """The part of the cell where ``row @ r >= level``, if it comes within reach."""
        rows, levels = np.vstack([self.rows, row]), np.append(self.levels, level)
        if row @ self.shortest >= level:
            return replace(self, rows=rows, levels=levels)
        shortest = shortest_step(rows, levels, within)
        return None if shortest is None else replace(self, rows=rows, levels=levels, shortest=shortest)

    def through(self, weight: Array, bias: Array) -> tuple[Array, Array]:
        """Slopes and values behind an affine layer."""
        return weight @ self.slopes, weight @ self.values + bias


@dataclass
class _PatternSearch:
    """Depth first through the activation patterns within reach of a point; ``best`` only ever falls."""

    layers: Layers
    own: int
    step: Array | None = None
    best: float = math.inf

    def visit(self, cell: _Cell, depth: int) -> None:
        """Decide the units of one layer, then go on to the next."""
        slopes, values = cell.through(*self.layers[depth])
        if depth == len(self.layers) - 1:
            self.cross(cell, slopes - slopes[self.own], values - values[self.own])
        else:
            self.decide(cell, depth, slopes, values, ())

    def decide(self, cell: _Cell, depth: int, slopes: Array, values: Array, pattern: tuple[bool, ...]) -> None:
        """Decide the next unit of a layer, nearer side first."""
        unit = len(pattern)
        if unit == len(values):
            mask = np.array(pattern, dtype=np.float64)
            self.visit(replace(cell, slopes=mask[:, None] * slopes, values=mask * values), depth + 1)
            return
        for positive, part in cell.split(slopes[unit], float(values[unit]), self.best):
            if np.linalg.norm(part.shortest) < self.best:
                self.decide(part, depth, slopes, values, (*pattern, positive))

    def cross(self, cell: _Cell, slopes: Array, values: Array) -> None:
        """Shorten ``best`` by the steps of one linear piece that lift a rival."""
        for rival in range(len(values)):
            if rival != self.own:
                part = cell.cut(slopes[rival], -float(values[rival]), self.best)
                if part is not None and np.linalg.norm(part.shortest) < self.best:
                    self.step, self.best = part.shortest, float(np.linalg.norm(part.shortest))


def _search(layers: Layers, point: Array) -> _PatternSearch:
    dimension = len(point)
    cell = _Cell(np.eye(dimension), point, np.zeros((0, dimension)), np.zeros(0), np.zeros(dimension))
    search = _PatternSearch(layers, _own(layers, point))
    search.visit(cell, 0)
    return search


def _shortest_by_pattern(layers: Layers, point: Array) -> float:
    return _search(layers, point).best


def _shortest_by_programme(layers: Layers, point: Array) -> float:
    """Within the cube that the shortest step in ℓ2, which crosses too, spans."""
    step = _search(layers, point).step
    if step is None:
        return math.inf
    bound = float(np.abs(step).max())
    if bound == 0:
        return 0.0
    box = 1.01 * bound
    programme = _programme(layers, point, _own(layers, point), box)
    rough = programme.solve()
    if rough.x is None:
        raise RuntimeError(f"The mixed-integer programme was not solved: {rough.message}")
    exact = programme.fixed(rough.x).solve()
    return min(bound, box * float(rough.x[0] if exact.x is None else exact.x[0]))


@dataclass
class _Programme:
    """A mixed-integer programme, written row by row; variable 0, the length in units of the box, is made least."""

    least: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)
    binary: list[bool] = field(default_factory=list)
    rows: list[dict[int, float]] = field(default_factory=list)
    levels: list[float] = field(default_factory=list)

    def variable(self, least: float, most: float, binary: bool = False) -> int:
        """Index of a new variable."""
        self.least.append(least)
        self.most.append(most)
        self.binary.append(binary)
        return len(self.least) - 1

    def require_at_least(self, level: float, row: dict[int, float]) -> None:
        """Add ``Σ row_i x_i >= level``."""
        self.rows.append(row)
        self.levels.append(level)

    def fixed(self, solution: Array) -> _Programme:
        """The linear programme left when the binary variables stand as in ``solution``."""
        least = [round(v) if b else low for v, b, low in zip(solution, self.binary, self.least, strict=True)]
        most = [round(v) if b else high for v, b, high in zip(solution, self.binary, self.most, strict=True)]
        return replace(self, least=least, most=most, binary=[False] * len(least))

    def solve(self) -> OptimizeResult:
        """Run HiGHS to the end, without a relative gap."""
        matrix = np.zeros((len(self.rows), len(self.least)))
        for place, row in enumerate(self.rows):
            matrix[place, list(row)] = list(row.values())
        cost = np.zeros(len(self.least))
        cost[0] = 1e3  # HiGHS stops at an absolute gap of 1e-6
        constraints = LinearConstraint(matrix, np.array(self.levels), np.inf)
        whole: NDArray[np.int_] = np.array(self.binary, dtype=int)
        bounds = Bounds(self.least, self.most)
        return milp(cost, integrality=whole, bounds=bounds, constraints=constraints, options={"mip_rel_gap": 0.0})


@dataclass(frozen=True)
class _Signal:
    """A number in the network: ``Σ terms_i x_i + constant``, between ``least`` and ``most`` all over the box."""

    terms: dict[int, float]
    constant: float
    least: float
    most: float


def _programme(layers: Layers, point: Array, own: int, bound: float) -> _Programme:
    """Least share of ``bound``, as ℓ∞ length, that lifts a rival to ``own``."""
    programme = _Programme()
    length = programme.variable(0.0, 1.0)
    signals = []
    for value in point:
        move = programme.variable(-1.0, 1.0)
        programme.require_at_least(0.0, {length: 1.0, move: 1.0})
        programme.require_at_least(0.0, {length: 1.0, move: -1.0})
        signals.append(_Signal({move: bound}, float(value), value - bound, value + bound))
    for weight, bias in layers[:-1]:
        signals = [_rectified(programme, _combined(signals, w, b)) for w, b in zip(weight, bias, strict=True)]
    weight, bias = layers[-1]
    gaps = [_combined(signals, w, b) for w, b in zip(weight - weight[own], bias - bias[own], strict=True)]
    _lift_one(programme, [gap for rival, gap in enumerate(gaps) if rival != own])
    return programme


def _combined(signals: list[_Signal], weight: Array, bias: float) -> _Signal:
    terms: dict[int, float] = {}
    constant = least = most = float(bias)
    for signal, factor in zip(signals, weight.tolist(), strict=True):
        for place, value in signal.terms.items():
            terms[place] = terms.get(place, 0.0) + factor * value
        ends = factor * signal.least, factor * signal.most
        constant, least, most = constant + factor * signal.constant, least + min(ends), most + max(ends)
    return _Signal(terms, constant, least, most)


def _rectified(programme: _Programme, signal: _Signal) -> _Signal:
    """``max(signal, 0)``: itself, zero, or a new variable tied to a binary one (Tjeng, Xiao and Tedrake, 2019)."""
    if signal.least >= 0:
        return signal
    if signal.most <= 0:
        return _Signal({}, 0.0, 0.0, 0.0)
    value = programme.variable(0.0, signal.most)
    active = programme.variable(0.0, 1.0, binary=True)
    negated = {place: -factor for place, factor in signal.terms.items()}
    programme.require_at_least(signal.constant, {value: 1.0, **negated})
    programme.require_at_least(signal.least - signal.constant, {value: -1.0, active: signal.least, **signal.terms})
    programme.require_at_least(0.0, {value: -1.0, active: signal.most})
    return _Signal({value: 1.0}, 0.0, 0.0, signal.most)


def _lift_one(programme: _Programme, gaps: list[_Signal]) -> None:
    """At least one rival's gap ``f_rival − f_own`` is zero or more."""
    chosen = {}
    for gap in gaps:
        rival = programme.variable(0.0, 1.0 if gap.most >= 0 else 0.0, binary=True)
        slack = min(gap.least, 0.0)
        programme.require_at_least(slack - gap.constant, {**gap.terms, rival: slack})
        chosen[rival] = 1.0
    programme.require_at_least(1.0, chosen)
