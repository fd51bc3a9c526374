"""Bad input is refused once, at the public door, in one wording."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TypeGuard

import torch
from torch import Tensor

_LONGEST = 120  # characters of a value that an error shows


def require(holds: bool, name: str, rule: str, got: object, fix: str = "") -> None:
    """Raise in the one wording the library uses for a bad argument."""
    if not holds:
        raise refusal(name, rule, got, fix)


def refusal(name: str, rule: str, got: object, fix: str = "") -> ValueError:
    """What ``require`` raises."""
    return ValueError(f"`{name}` must {rule}; got {got}." + (f" {fix}" if fix else ""))


def described(value: object) -> str:
    """A value as an error shows it: on one line, however large."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    line = " ".join(repr(value).split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def few(names: Sequence[str], most: int = 3) -> str:
    """The first of many, and how many more there are."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def require_points(points: object, name: str = "points") -> None:
    """Refuse anything that is not a non-empty batch of finite, real floating-point inputs ``(n, *shape)``."""
    require(isinstance(points, Tensor), name, "be a torch tensor (n, *shape)", type(points).__name__)
    assert isinstance(points, Tensor)
    require(
        points.ndim >= 2,
        name,
        "be a batch (n, *shape)",
        f"shape {tuple(points.shape)}",
        "Use `points[None]` for one point.",
    )
    require(points.numel() > 0, name, "hold at least one point", f"shape {tuple(points.shape)}")
    require_full_precision(points.dtype, name)
    dense = points.layout == torch.strided and not points.is_meta
    kind = "a tensor without data" if points.is_meta else str(points.layout)
    require(dense, name, "be a dense tensor with data", kind, "Convert with `.to_dense()`.")
    finite = torch.isfinite(points).flatten(1).all(1)
    require(bool(finite.all()), name, "be finite", f"NaN or inf in {int((~finite).sum())} of {len(points)} points")


def require_full_precision(dtype: torch.dtype, name: str, *, pixels: bool = True) -> None:
    """Refuse what geometry cannot be measured in: integers, complex numbers and half precision."""
    fix = "Convert with `.float()`."
    if pixels and not dtype.is_floating_point:
        fix = "Convert with `.float()`, and divide by 255 if pixels run from 0 to 255."
    require(dtype in (torch.float32, torch.float64), name, "be float32 or float64", dtype, fix)


def require_batch(tensor: object, name: str, count: int, *, integer: bool = False) -> None:
    """Refuse a per-sample tensor that does not hold one entry a point."""
    require(isinstance(tensor, Tensor), name, f"be a torch tensor of {count} entries", type(tensor).__name__)
    assert isinstance(tensor, Tensor)
    require(tensor.shape == (count,), name, f"have shape ({count},), one entry a point", f"shape {tuple(tensor.shape)}")
    if integer:
        require(is_whole(tensor.dtype), name, "hold whole numbers", tensor.dtype)


def require_count(number: object, name: str, least: int = 1) -> None:
    """Refuse what is not a whole number of at least ``least``."""
    whole = isinstance(number, int) and not isinstance(number, bool)
    require(whole and number >= least, name, f"be a whole number ≥ {least}", repr(number))  # type: ignore[operator]


def require_positive(number: object, name: str) -> None:
    """Refuse what is not a finite number above zero."""
    real = isinstance(number, (int, float)) and not isinstance(number, bool)
    require(real and 0 < number < float("inf"), name, "be a finite number above 0", repr(number))  # type: ignore[operator]


def require_seed(seed: object, name: str = "seed") -> None:
    """Refuse what random numbers cannot be a function of."""
    whole = isinstance(seed, int) and not isinstance(seed, bool)
    require(whole and 0 <= seed < 2**63, name, "be a whole number from 0 to 2^63 − 1", described(seed))  # type: ignore[operator]


def require_generator(generator: object) -> None:
    """Refuse what random numbers cannot be drawn from."""
    require(isinstance(generator, torch.Generator), "generator", "be a torch.Generator", type(generator).__name__)


def require_range(bounds: object, name: str) -> None:
    """Refuse what is not a least and a greatest number."""
    pair = isinstance(bounds, (tuple, list)) and len(bounds) == 2 and all(map(is_number, bounds))
    require(pair and bounds[0] < bounds[1], name, "be a pair (least, greatest)", described(bounds))  # type: ignore[index]


def is_whole(dtype: torch.dtype) -> bool:
    """Whether tensors of this kind hold whole numbers; truth values are none."""
    return not dtype.is_floating_point and not dtype.is_complex and dtype != torch.bool


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number, and no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def as_tensor(
    values: object, name: str, rule: str, dtype: torch.dtype | None = None, device: torch.device | None = None
) -> Tensor:
    """The values as a tensor; refuse those that make none."""
    try:
        return torch.as_tensor(values, dtype=dtype, device=device)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise refusal(name, rule, described(values)) from None


def number_each(values: object, name: str, points: Tensor) -> Tensor:
    """One real number a point ``(n,)``, in the precision of the points: one for all, or one a point already."""
    rule = "be a number, or one a point (n,)"
    if isinstance(values, Tensor):
        real = values.dtype != torch.bool and not values.is_complex()
        require(real, name, "hold real numbers", values.dtype)
    else:
        require(is_number(values), name, rule, described(values))
    numbers = as_tensor(values, name, rule, points.dtype, points.device)
    if numbers.ndim:
        require_batch(numbers, name, len(points))
    return numbers.expand(len(points))


def require_each(sound: Tensor, name: str, rule: str, values: Tensor) -> None:
    """Refuse numbers ``(n,)`` some of which break the rule, and name those."""
    broken = dict.fromkeys(f"{value:g}" for value in values[~sound].tolist())
    require(not broken, name, rule, few(list(broken)))


def sample_ids(ids: Tensor | None, points: Tensor) -> Tensor:
    """The samples' names ``(n,)``: 0 … n − 1 where none are given."""
    if ids is None:
        return torch.arange(len(points), device=points.device)
    require_batch(ids, "ids", len(points), integer=True)
    return ids.to(points.device, torch.long)


def class_each(classes: Tensor | int | None, name: str, points: Tensor, count: int) -> Tensor | None:
    """One class a point ``(n,)``, from 0 to ``count`` − 1; None stays None."""
    if classes is None:
        return None
    if isinstance(classes, int):
        classes = torch.full((len(points),), classes)
    require_batch(classes, name, len(points), integer=True)
    least, greatest = int(classes.min()), int(classes.max())
    inside = least >= 0 and greatest < count
    require(inside, name, f"be classes from 0 to {count - 1}", f"{least} to {greatest}")
    return classes.to(points.device, torch.long)
