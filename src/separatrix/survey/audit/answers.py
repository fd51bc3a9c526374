"""Checks of what a model answers: the same whenever, and in whatever company, it is asked."""

from __future__ import annotations

import sys
from contextlib import suppress
from types import FrameType

import torch
from torch import Tensor

from separatrix.norms import per_sample
from separatrix.randomness import normal
from separatrix.survey.audit.examined import Check, Examined

_REPEATS = 4  # a model that tosses a coin for a whole batch is missed once in sixteen times
_SCALES = (0.5, 4.0, -4.0)  # where a model is asked again when it seems to answer probabilities
_STREAM = 5_000_000  # of random numbers, apart from those of searches and attacks
_DIFFERENCES = (1, -4, 6, -4, 1)  # the fourth difference: nothing is left of a cubic
_NOISE_GAIN = 70**0.5  # how much larger it is than the noise of one value
_STEP = 1e-4  # between the five points, as a share of the sample's own size
_TAKING = (torch.autograd.grad.__code__, torch.autograd.backward.__code__)


def _shape(examined: Examined) -> tuple[float, str]:
    sizes = dict.fromkeys((len(examined.points), 1))
    answers = {size: _answer(examined, examined.points[:size]) for size in sizes}
    wrong = [f"{shape} for {size} points" for size, shape in answers.items() if not _is_batch(shape, size)]
    right = f"Logits of shape {answers[1]} for 1 point, and so on."
    return float(len(wrong)), f"Not (n, classes) but {' and '.join(wrong)}." if wrong else right


def _answer(examined: Examined, points: Tensor) -> tuple[int, ...] | str:
    with torch.no_grad():
        answer: object = examined.model(points.clone())
    return tuple(answer.shape) if isinstance(answer, Tensor) else type(answer).__name__


def _is_batch(shape: tuple[int, ...] | str, size: int) -> bool:
    return isinstance(shape, tuple) and len(shape) in (1, 2) and shape[0] == size and shape[-1] > 0


def _finite(examined: Examined) -> tuple[float, str]:
    broken = ~examined.logits.isfinite().all(1)
    count, total = int(broken.sum()), len(broken)
    return count / total, f"NaN or infinite logits for {count} of {total} samples."


def _input_left(examined: Examined) -> tuple[float, str]:
    shown = examined.points.clone()
    with torch.no_grad():
        examined.model(shown)
    moved = int((shown != examined.points).flatten(1).any(1).sum())
    return float(moved), f"Answering has changed {moved} of the {len(shown)} inputs it was shown."


def _probabilities(examined: Examined) -> tuple[float, str]:
    with torch.no_grad():
        rows = _rows(examined.model(examined.points.clone()))
    if bool(_on_simplex(rows).any()):
        rows = torch.cat([rows, *_elsewhere(examined)])
    rows = rows[~rows.isnan().any(1)]
    if len(rows) == 0 or bool((rows == rows[0]).all()):
        return 0.0, "The same answer everywhere, which tells nothing."
    share = float(_on_simplex(rows).double().mean())
    return share, f"{share:.0%} of {len(rows)} answers lie between 0 and 1 and sum to 1."


def _rows(answer: Tensor) -> Tensor:
    return answer.reshape(len(answer), -1)


def _on_simplex(rows: Tensor) -> Tensor:
    """Which rows lie in [0, 1] and sum to 1; which single scores lie in [0, 1]."""
    inside = ((rows >= 0) & (rows <= 1)).all(1)
    return inside if rows.shape[1] == 1 else inside & ((rows.sum(1) - 1).abs() < 1e-4)


def _elsewhere(examined: Examined) -> list[Tensor]:
    """Answers at shorter, longer and opposite points, as far as there are any."""
    answers = []
    for scale in _SCALES:
        with torch.no_grad(), suppress(Exception):
            answers.append(_rows(examined.model(scale * examined.points)))
    return answers


def _repeated(examined: Examined) -> tuple[float, str]:
    gaps = [examined.apart(examined.ask(examined.points)) for _ in range(_REPEATS)]
    gap, sample = examined.worst(torch.stack(gaps).amax(0))
    return gap, _told(f"The same {len(examined.points)} samples asked {_REPEATS} times again", gap, sample)


def _alone(examined: Examined) -> tuple[float, str]:
    answers = torch.cat([examined.ask(point[None]) for point in examined.points])
    gap, sample = examined.worst(examined.apart(answers))
    return gap, _told(f"Each of {len(answers)} samples asked alone and in their batch", gap, sample)


def _reversed(examined: Examined) -> tuple[float, str]:
    gap, sample = examined.worst(examined.apart(examined.ask(examined.points.flip(0)).flip(0)))
    return gap, _told(f"{len(examined.points)} samples asked in the opposite order", gap, sample)


def _told(asked: str, gap: float, sample: int) -> str:
    if gap == 0:
        return f"{asked}: the same logits, bit for bit."
    return f"{asked}: logits differ by up to {gap:.2g} of their spread (sample {sample})."


def _noise(examined: Examined) -> tuple[float, str]:
    """How rough the logits are at a scale where they should be straight lines: fourth differences, after Hamming."""
    points = examined.points
    direction = normal(examined.seed, examined.ids.to(points.device), points.shape[1:], stream=_STREAM).to(points.dtype)
    size = points.flatten(1).square().mean(1).sqrt()
    step = direction * per_sample(_STEP * torch.where(size > 0, size, 1), points)
    lines = [weight * examined.ask(points + place * step).double() for place, weight in enumerate(_DIFFERENCES)]
    noise = torch.stack(lines).sum(0).square().mean(1).sqrt() / _NOISE_GAIN
    value = float((noise / examined.spread).nan_to_num(torch.inf).median()) if bool((noise != 0).any()) else 0.0
    return value, f"Along short lines through {len(points)} samples, logits scatter by {value:.2g} of their spread."


def _plain(examined: Examined) -> tuple[float, str]:
    taken: list[str] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in _TAKING:
            taken.append(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        examined.model(examined.points.clone())
    finally:
        sys.setprofile(before)
    return float(len(taken)), f"The model takes {len(taken)} gradients while it answers."


ANSWERS = (
    Check("output shape", 0, _shape, "Rows cannot be told apart: return logits (n, classes), one row a point."),
    Check("finite logits", 0, _finite, "A point without an answer has no margin."),
    Check("input left", 0, _input_left, "Searches go on from points that the model has moved: clone the input first."),
    # probabilities are so everywhere; logits fall on the simplex by chance in single rows, if ever
    Check(
        "logits",
        0.95,
        _probabilities,
        "Gradients of probabilities vanish where the model is sure: return what goes into the softmax.",
    ),
    # the same sums in the same order should agree bit for bit; libraries that choose kernels as they go get 1e-6
    Check("repeatability", 1e-5, _repeated, "A boundary that moves between two looks cannot be measured."),
    # other batch sizes take other kernels, which in float32 differ by 1e-6 to 1e-5; batch statistics by 0.1
    Check("batch invariance", 1e-4, _alone, "A sample's margin would depend on its neighbours in the batch."),
    Check("order invariance", 1e-4, _reversed, "A sample's margin would depend on its place in the batch."),
    # float32 leaves 1e-7, and kinks of a deep network 3e-6; arithmetic in half precision 4e-5 and more
    Check("logit noise", 2e-5, _noise, "Margins cannot be finer than that: full precision, and no rounding of inputs."),
    # optimisation at inference defeats gradients through it, and is excluded from benchmarks for that
    Check("plain forward", 0, _plain, "Gradients do not see what is optimised inside the forward pass."),
)
