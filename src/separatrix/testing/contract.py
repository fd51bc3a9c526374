"""The laws of a search: one call that anyone can make with a method of their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from separatrix.boundary import BoundaryPoints
from separatrix.classifier import Model, logits_of
from separatrix.fields import Margin
from separatrix.norms import L2, Linf, Norm
from separatrix.search import AbstractSearch, Best, minimal_perturbation
from separatrix.subspaces import Subspace, random
from separatrix.testing.geometry import Affine, Ball

Search = AbstractSearch | Best

_NORMS = (L2, Linf, Norm(3))
_EXACT = 1e-9


def _norms(method: Search) -> tuple[Norm, ...]:
    """The norms that the method, or each of its methods, works in."""
    parts = method.methods if isinstance(method, Best) else (method,)
    return tuple(norm for norm in _NORMS if all(part.norms is None or norm in part.norms for part in parts))


def _is_scale_free(method: Search) -> bool:
    parts = method.methods if isinstance(method, Best) else (method,)
    return all(part.scale_free for part in parts)


def check_search(method: Search) -> None:
    """Check that a search method keeps the laws of all searches; a few seconds.

    Ends cross when asked again one by one, are never nearer than the exact distance, and reach it on two affine
    classes; the region left is the model's own answer; a batch equals its singletons; a subspace is kept to; what
    cannot be crossed is reported as not found; the cost is counted; steep logits change nothing; the model comes back
    as it was. On classifiers of known geometry in float64 and on a small convolutional network in float32.

    Args:
        method: The search, as it would be given to ``minimal_perturbation``.

    Raises:
        AssertionError: The first law broken, where, and for how many points.
    """
    for check in LAWS:
        check(method)


def small_network(*, seed: int = 0, dtype: torch.dtype = torch.float32) -> nn.Sequential:
    """A convolutional network of random weights for 1×8×8 inputs, three classes, in eval mode, its logits centred."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        head = nn.Linear(4 * 3 * 3, 3, dtype=dtype)
        layers = (nn.Conv2d(1, 4, 3, dtype=dtype), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), head)
        network = nn.Sequential(*layers).eval()
        with torch.no_grad():
            head.bias.sub_(network(torch.randn(256, 1, 8, 8, dtype=dtype)).mean(0))
    return network


@dataclass(frozen=True)
class _Case:
    """A classifier, points, and the exact distance where it is known."""

    name: str
    model: Model
    points: Tensor
    exact: Callable[[Tensor, Norm], Tensor] | None = None
    exact_in: tuple[Norm, ...] = _NORMS


def _affine(classes: int) -> _Case:
    generator = torch.Generator().manual_seed(classes)
    model = Affine.random(classes, 12, generator=generator)
    points = torch.randn(24, 3, 4, generator=generator, dtype=torch.float64)
    return _Case(f"affine, {classes} classes", model, points, model.distance)


def _ball(inside: bool) -> _Case:
    generator = torch.Generator().manual_seed(7)
    directions = L2.steepest(torch.randn(24, 6, generator=generator, dtype=torch.float64))
    reach = torch.linspace(0.3, 0.9, 24, dtype=torch.float64) if inside else torch.linspace(1.1, 3, 24).double()
    model = Ball(1.0)
    return _Case(
        f"ball, from {'inside' if inside else 'outside'}",
        model,
        reach[:, None] * directions,
        model.distance,
        (L2, Linf),
    )


def _network(dtype: torch.dtype = torch.float32) -> _Case:
    generator = torch.Generator().manual_seed(3)
    points = torch.randn(24, 1, 8, 8, generator=generator, dtype=dtype)
    return _Case(f"convolutional network, {dtype}", small_network(dtype=dtype), points)


def _exact_cases() -> list[_Case]:
    return [_affine(2), _affine(5), _ball(inside=True), _ball(inside=False)]


def _measure(
    method: Search, case: _Case, norm: Norm = L2, subspace: Subspace | None = None, model: Model | None = None
) -> BoundaryPoints:
    return minimal_perturbation(model or case.model, case.points, method=method, norm=norm, subspace=subspace)


def _hold(kept: Tensor | bool, law: str, method: Search, where: str) -> None:
    verdicts = torch.as_tensor(kept).reshape(-1)
    broken = int((~verdicts).sum())
    if broken:
        raise AssertionError(f"{method}: {law}; broken for {broken} of {len(verdicts)} on {where}")


def _check_ends_cross(method: Search) -> None:
    for case in (*_exact_cases(), _network()):
        for norm in _norms(method):
            answer = _measure(method, case, norm)
            where = f"{case.name}, {norm}"
            _hold(answer.found, "every point near a simple boundary must be found", method, where)
            margins = [_margin(case.model, answer[row]) for row in range(len(answer))]
            _hold(torch.stack(margins) >= 0, "an end asked again by itself must have crossed", method, where)


def _margin(model: Model, single: BoundaryPoints) -> Tensor:
    with torch.no_grad():
        return Margin(model, own=single.own)(single.end)[0]


def _check_lengths(method: Search) -> None:
    for case in _exact_cases():
        assert case.exact is not None
        for norm in sorted(set(_norms(method)) & set(case.exact_in), key=str):
            answer, exact = _measure(method, case, norm), case.exact(case.points, norm)
            where = f"{case.name}, {norm}"
            law = "no distance may be shorter than the exact one"
            _hold(answer.distance >= exact - _EXACT, law, method, where)
            law = "no answer may be longer than the walk that it was refined from"
            _hold(answer.distance <= answer.raw_distance * (1 + _EXACT), law, method, where)


def _check_affine_is_exact(method: Search) -> None:
    case = _affine(2)
    assert case.exact is not None
    for norm in _norms(method):
        excess = _measure(method, case, norm).distance - case.exact(case.points, norm)
        law = "the refined distance to one hyperplane must be exact"
        _hold(excess.abs() <= _EXACT, law, method, f"{case.name}, {norm}")


def _check_own_region(method: Search) -> None:
    for case in (*_exact_cases(), _network()):
        answer = _measure(method, case)
        own = logits_of(case.model, case.points).argmax(1)
        _hold(answer.own == own, "the region left must be the model's own answer", method, case.name)
        _hold(answer.rival != own, "the class beyond must be another one", method, case.name)


def _check_singletons(method: Search) -> None:
    for case in (_affine(5), _network(torch.float64)):
        _check_parts(method, case, ("raw_distance", "distance"), _EXACT, _EXACT)
    _check_parts(method, _network(), ("distance",), 1e-4, 1e-5)


def _check_parts(method: Search, case: _Case, lengths: tuple[str, ...], most: float, usual: float) -> None:
    whole, rows = _measure(method, case), torch.arange(0, 24, 6)
    singles = [
        minimal_perturbation(case.model, case.points[row : row + 1], method=method, ids=torch.tensor([row]))
        for row in rows.tolist()
    ]
    parts = minimal_perturbation(case.model, case.points, method=method, batch_size=9)
    for part, expected, how in (
        (BoundaryPoints.cat(singles), whole[rows], "one by one"),
        (parts, whole, "with batch_size=9"),
    ):
        for length in lengths:
            change = (getattr(part, length) / getattr(expected, length) - 1).abs()
            where = f"{case.name}, `{length}` {how}"
            _hold(change <= most, f"a batch must equal its parts within {most:g}", method, where)
            law = f"a batch must equal its parts within {usual:g}, but for one point in twenty"
            _hold(bool((change <= usual).double().mean() >= 0.95), law, method, where)


def _check_subspace(method: Search) -> None:
    for case in (_affine(2), _network(torch.float64)):
        subspace = random(case.points.shape[1:], 5, generator=torch.Generator().manual_seed(1))
        raw = minimal_perturbation(case.model, case.points, method=method, subspace=subspace, refine=None)
        answer = _measure(method, case, subspace=subspace)
        for step in (raw.perturbation[raw.found], answer.perturbation[answer.found]):
            outside = L2.length(step - subspace.project(step)) / L2.length(step)
            _hold(outside <= _EXACT, "a perturbation must stay in its subspace", method, case.name)
        if isinstance(case.model, Affine):
            exact = case.model.distance(case.points, basis=subspace.basis().flatten(1))
            law = "the refined distance to one hyperplane within a subspace must be exact"
            _hold((answer.distance - exact).abs() <= _EXACT * (1 + exact), law, method, case.name)


@dataclass(frozen=True)
class _Constant:
    """The same logits everywhere, with gradients that are zero."""

    logits: tuple[float, ...]

    def __call__(self, points: Tensor) -> Tensor:
        return 0 * points.flatten(1)[:, :1] + torch.tensor(self.logits).to(points)


def _check_constant(method: Search) -> None:
    for logits in ((0.0, 2.0, 1.0), (1.0, 1.0, 0.0), (0.0, 0.0, 0.0)):
        case = _Case(f"a constant model, {logits}", _Constant(logits), _affine(2).points[:3])
        for norm in _norms(method):
            answer = _measure(method, case, norm)
            _hold(~answer.found, "nothing may be found where there is no boundary", method, case.name)
            _hold(answer.distance == math.inf, "a distance not found must be infinite", method, case.name)
            _hold(answer.end.isnan(), "an end not found must be NaN", method, case.name)


def _check_one_class(method: Search) -> None:
    """Into the region of each other class, and across the boundary with it alone."""
    case = _affine(5)
    own = logits_of(case.model, case.points).argmax(1)
    other = (own + 1) % 5
    entered = minimal_perturbation(case.model, case.points, method=method, targets=other)
    crossed = minimal_perturbation(case.model, case.points, method=method, rival=other)
    for answer, name in ((entered, "targets"), (crossed, "rival")):
        _hold(answer.found, f"every point must be found with `{name}`", method, case.name)
    with torch.no_grad():
        logits = logits_of(case.model, entered.end)
    _hold(Margin(case.model, rival=other).of(logits) >= 0, "a target's region must be entered", method, case.name)
    exact = _pair_distance(case.model, case.points, own, other)
    law = "the refined distance to the boundary of one pair must be exact"
    _hold((crossed.distance - exact).abs() <= _EXACT * (1 + exact), law, method, case.name)
    _hold(entered.distance >= crossed.distance - _EXACT, "a region is no nearer than its boundary", method, case.name)


def _pair_distance(model: Model, points: Tensor, own: Tensor, other: Tensor) -> Tensor:
    """Of affine classes: the gap of two logits over the length of its gradient."""
    leaf = points.clone().requires_grad_()
    gap = Margin(model, own, other)(leaf)
    (slope,) = torch.autograd.grad(gap.sum(), leaf)
    return gap.detach().abs() / L2.length(slope)


def _check_flat_places(method: Search) -> None:
    """Some points without any slope among others with one: no exception, and the others are found."""
    points = torch.linspace(-3, 3, 24, dtype=torch.float64)[:, None].expand(24, 3).contiguous()
    case = _Case("a model that is flat for half of the points", _flat_below_zero, points)
    answer = _measure(method, case)
    _hold(answer.found[points[:, 0] > 0.2], "points with a slope must be found beside flat ones", method, case.name)
    _hold(answer.found | (answer.distance == math.inf), "a distance not found must be infinite", method, case.name)


def _flat_below_zero(points: Tensor) -> Tensor:
    """Class 1 from x₀ = 4 on, without slope for x₀ < 0."""
    height = points.flatten(1)[:, 0].relu() - 4
    return torch.stack([torch.zeros_like(height), height], dim=1)


class _Counter:
    """Counts the rows a model is asked about and the gradients taken through its logits."""

    def __init__(self, model: Model) -> None:
        self.model, self.forwards, self.gradients = model, 0, 0

    def __call__(self, points: Tensor) -> Tensor:
        logits = self.model(points)
        self.forwards += len(points)
        if logits.requires_grad:
            logits.register_hook(self._count)  # type: ignore[no-untyped-call]
        return logits

    def _count(self, gradient: Tensor) -> None:
        self.gradients += int(gradient.flatten(1).any(1).sum())


def _check_counts(method: Search) -> None:
    for case in (_affine(5), _network()):
        for row in range(3):
            _check_count(method, _Case(case.name, case.model, case.points[row : row + 1]), asked_at_the_door=1)
        whole = _Counter(case.model)
        answer = _measure(method, case, model=whole)
        law = "no more may be counted than the model saw"
        _hold(int(answer.forwards.sum()) <= whole.forwards, law, method, f"forwards of {case.name}")
        _hold(int(answer.gradients.sum()) <= whole.gradients, law, method, f"gradients of {case.name}")


def _check_count(method: Search, case: _Case, asked_at_the_door: int) -> None:
    counter = _Counter(case.model)
    answer = _measure(method, case, model=counter)
    for name, counted, seen in (
        ("forwards", int(answer.forwards), counter.forwards),
        ("gradients", int(answer.gradients), counter.gradients),
    ):
        law = f"`{name}` must be what the model saw ({seen} of one point, {counted} counted): ask it through `problem`"
        _hold(counted <= seen <= counted + asked_at_the_door, law, method, case.name)


def _check_scale(method: Search) -> None:
    if not _is_scale_free(method):
        return
    for case in (_affine(5), _ball(inside=True), _network(torch.float64)):
        reference = _measure(method, case)
        for scale in (2.0**-20, 2.0**20):
            scaled = _measure(method, case, model=_Scaled(case.model, scale))
            for length in ("distance", "raw_distance"):
                change = getattr(scaled, length) - getattr(reference, length)
                kept = change.abs() <= _EXACT * (1 + getattr(reference, length))
                _hold(kept, f"logits times {scale:g} must change nothing", method, f"`{length}`, {case.name}")


@dataclass(frozen=True)
class _Scaled:
    model: Model
    scale: float

    def __call__(self, points: Tensor) -> Tensor:
        return self.scale * self.model(points)


def _check_model_is_left_alone(method: Search) -> None:
    case, network = _network(), small_network()
    next(network.parameters()).requires_grad_(False)
    network.register_buffer("seen", torch.ones(1))
    before, points, random_state = _state(network), case.points.clone(), torch.random.get_rng_state()
    minimal_perturbation(network, points, method=method, starts=2)
    where = case.name
    _hold(before == _state(network), "the model must come back as it was", method, where)
    _hold(torch.equal(points, case.points), "the points must come back as they were", method, where)
    same = torch.equal(random_state, torch.random.get_rng_state())
    _hold(same, "the global random state must not move", method, where)
    _hold(torch.is_grad_enabled(), "gradients must be recorded again afterwards", method, where)


def _state(network: nn.Module) -> list[object]:
    parts: list[object] = [
        (part.training, len(part._forward_hooks), len(part._forward_pre_hooks), len(part._backward_hooks))
        for part in network.modules()
    ]
    parts += [(value.requires_grad, value.grad is None, value.tolist()) for value in network.parameters()]
    return parts + [value.tolist() for value in network.buffers()]


LAWS: tuple[Callable[[Search], None], ...] = (
    _check_model_is_left_alone,
    _check_ends_cross,
    _check_lengths,
    _check_affine_is_exact,
    _check_own_region,
    _check_singletons,
    _check_subspace,
    _check_constant,
    _check_flat_places,
    _check_one_class,
    _check_counts,
    _check_scale,
)
"""What ``check_search`` checks, one function a law."""
