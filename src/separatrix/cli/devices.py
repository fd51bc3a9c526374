"""Devices as command lines name them."""

from __future__ import annotations

import torch


def require_device(device: str | None) -> None:
    """Refuse a device that cannot be used here."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"`--device` must be a device that PyTorch can use here; got {device}: {error}.") from error
