"""Random numbers that belong to a sample: the same whatever the batch, the order, the worker or the device.

A counter is hashed with the seed and the sample's id, so that nothing is drawn in sequence and the global
random state is neither read nor moved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

_GOLDEN = -7046029254386353131  # 2^64 / golden ratio, as a signed number
_MULTIPLIERS = (-4658895280553007687, -7723592293110705685)


def normal(
    seed: int, ids: Tensor, shape: Sequence[int], *, stream: int = 0, dtype: torch.dtype = torch.float32
) -> Tensor:
    """Standard normal numbers ``(len(ids), *shape)``, a function of (seed, stream, id, position) alone."""
    half = (math.prod(shape) + 1) // 2
    uniform_pairs = uniform(seed, ids, (2, half), stream=stream)
    radius = (-2 * uniform_pairs[:, 0].log()).sqrt()
    angle = 2 * math.pi * uniform_pairs[:, 1]
    numbers = torch.cat([radius * angle.cos(), radius * angle.sin()], dim=1)
    return numbers[:, : math.prod(shape)].reshape(len(ids), *shape).to(dtype)


def uniform(seed: int, ids: Tensor, shape: Sequence[int], *, stream: int = 0) -> Tensor:
    """Numbers in (0, 1), float64 ``(len(ids), *shape)``, a function of (seed, stream, id, position) alone."""
    key = _mix(_mix(_mix(torch.full_like(ids, seed, dtype=torch.int64)) + stream) + ids.long())
    counter = torch.arange(math.prod(shape), device=ids.device)
    bits = _mix(key[:, None] + (counter + 1) * _GOLDEN)
    fraction = _shift(bits, 11).double() + 0.5  # 53 bits
    return (fraction / 2**53).reshape(len(ids), *shape)


def _mix(bits: Tensor) -> Tensor:
    """SplitMix64's finaliser: every input bit moves every output bit."""
    bits = (bits ^ _shift(bits, 30)) * _MULTIPLIERS[0]
    bits = (bits ^ _shift(bits, 27)) * _MULTIPLIERS[1]
    return bits ^ _shift(bits, 31)


def _shift(bits: Tensor, by: int) -> Tensor:
    """Logical right shift of signed 64-bit numbers."""
    return (bits >> by) & ((1 << (64 - by)) - 1)
