"""Bad input is refused once, at the public door, in one wording."""

from __future__ import annotations

import torch
from torch import Tensor


def require(holds: bool, name: str, rule: str, got: object, fix: str = "") -> None:
    """Raise in the one wording the library uses for a bad argument."""
    if not holds:
        raise ValueError(f"`{name}` must {rule}; got {got}." + (f" {fix}" if fix else ""))


def described(value: object) -> str:
    """A value as an error shows it: on one line, however large."""
    return f"a tensor of shape {tuple(value.shape)}" if isinstance(value, Tensor) else repr(value)


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
    finite = torch.isfinite(points).flatten(1).all(1)
    require(bool(finite.all()), name, "be finite", f"NaN or inf in {int((~finite).sum())} of {len(points)} points")


def require_full_precision(dtype: torch.dtype, name: str) -> None:
    """Refuse what geometry cannot be measured in: integers, complex numbers and half precision."""
    fix = "Convert with `.float()`."
    if not dtype.is_floating_point:
        fix = "Convert with `.float()`, and divide by 255 if pixels run from 0 to 255."
    require(dtype in (torch.float32, torch.float64), name, "be float32 or float64", dtype, fix)


def require_batch(tensor: object, name: str, count: int, *, integer: bool = False) -> None:
    """Refuse a per-sample tensor that does not hold one entry a point."""
    require(isinstance(tensor, Tensor), name, f"be a torch tensor of {count} entries", type(tensor).__name__)
    assert isinstance(tensor, Tensor)
    require(tensor.shape == (count,), name, f"have shape ({count},), one entry a point", f"shape {tuple(tensor.shape)}")
    if integer:
        whole = not tensor.dtype.is_floating_point and not tensor.dtype.is_complex and tensor.dtype != torch.bool
        require(whole, name, "hold whole numbers", tensor.dtype)


def require_count(number: object, name: str, least: int = 1) -> None:
    """Refuse what is not a whole number of at least ``least``."""
    whole = isinstance(number, int) and not isinstance(number, bool)
    require(whole and number >= least, name, f"be a whole number ≥ {least}", repr(number))  # type: ignore[operator]


def require_positive(number: object, name: str) -> None:
    """Refuse what is not a finite number above zero."""
    real = isinstance(number, (int, float)) and not isinstance(number, bool)
    require(real and 0 < number < float("inf"), name, "be a finite number above 0", repr(number))  # type: ignore[operator]


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
