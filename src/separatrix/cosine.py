"""The orthonormal discrete cosine transform (DCT-II): an image as a sum of cosine waves, lowest frequency first.

It is an isometry: lengths and angles between images are those between their coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

from separatrix.checks import require_count

_LONGEST_MATRIX = 1024


def dct_matrix(size: int, *, dtype: torch.dtype = torch.float64, device: torch.device | str = "cpu") -> Tensor:
    """The orthonormal matrix ``(size, size)`` whose row k is the cosine wave of frequency k.

    Computed in float64 and kept; treat it as read-only.
    """
    require_count(size, "size")
    return _kept_matrix(size, dtype, torch.device(device))


def dct2(images: Tensor) -> Tensor:
    """Coefficients of each image on the last two axes; entry (0, 0) is the mean, up to scale."""
    return dct(images, (-2, -1))


def idct2(coefficients: Tensor) -> Tensor:
    """The images that have these coefficients on the last two axes."""
    return idct(coefficients, (-2, -1))


def dct(values: Tensor, axes: Sequence[int]) -> Tensor:
    """Cosine coefficients along each of ``axes``."""
    for axis in axes:
        values = _analyse(values.movedim(axis, -1)).movedim(-1, axis)
    return values


def idct(coefficients: Tensor, axes: Sequence[int]) -> Tensor:
    """The values whose cosine coefficients along ``axes`` these are."""
    for axis in axes:
        coefficients = _synthesise(coefficients.movedim(axis, -1)).movedim(-1, axis)
    return coefficients


@lru_cache(maxsize=64)
def _kept_matrix(size: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    with torch.inference_mode(False):
        frequency = torch.arange(size, dtype=torch.float64)[:, None]
        place = torch.arange(size, dtype=torch.float64) + 0.5
        waves = (math.pi / size * frequency * place).cos() * math.sqrt(2 / size)
        waves[0] /= math.sqrt(2)
        return waves.to(device=device, dtype=dtype)


def _analyse(values: Tensor) -> Tensor:
    size = values.shape[-1]
    if size > _LONGEST_MATRIX:
        return _fast_analyse(values)
    return values @ dct_matrix(size, dtype=values.dtype, device=values.device).T


def _synthesise(coefficients: Tensor) -> Tensor:
    size = coefficients.shape[-1]
    if size > _LONGEST_MATRIX:
        return _fast_synthesise(coefficients)
    return coefficients @ dct_matrix(size, dtype=coefficients.dtype, device=coefficients.device)


def _fast_analyse(values: Tensor) -> Tensor:
    """The transform by one FFT of the even places followed by the odd ones backwards (Makhoul, 1980)."""
    folded = torch.cat([values[..., ::2], values[..., 1::2].flip(-1)], dim=-1)
    waves: Tensor = (torch.fft.fft(folded) * _twiddle(values)).real
    return waves * _scale(values)


def _fast_synthesise(coefficients: Tensor) -> Tensor:
    waves = coefficients / _scale(coefficients)
    mirrored = torch.cat([torch.zeros_like(waves[..., :1]), waves[..., 1:].flip(-1)], dim=-1)
    folded = torch.fft.ifft(torch.complex(waves, -mirrored) * _twiddle(waves).conj()).real
    half = (folded.shape[-1] + 1) // 2
    values = torch.empty_like(folded)
    values[..., ::2], values[..., 1::2] = folded[..., :half], folded[..., half:].flip(-1)
    return values


def _twiddle(like: Tensor) -> Tensor:
    size = like.shape[-1]
    angle = torch.arange(size, dtype=like.dtype, device=like.device) * (-math.pi / (2 * size))
    return torch.polar(torch.ones_like(angle), angle)


def _scale(like: Tensor) -> Tensor:
    size = like.shape[-1]
    scale = torch.full((size,), math.sqrt(2 / size), dtype=like.dtype, device=like.device)
    scale[0] /= math.sqrt(2)
    return scale
