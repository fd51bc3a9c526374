"""Perturbations that spell: subspaces of words written across the image."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from separatrix.checks import described, require, require_count, require_generator
from separatrix.subspaces.base import Subspace, require_shape, spanned

_ROUNDS = 10
_NEW_SHARE = 1e-4  # of an image's length that the images before it must leave over
_SMALLEST_FONT = 6


def words(
    shape: Sequence[int],
    words: Sequence[str] = ("NIPS", "SPAIN", "2016"),
    dim: int | None = None,
    *,
    generator: torch.Generator,
) -> Subspace:
    """Combinations of words written at random places and sizes, alike in every channel: watermarks.

    Args:
        shape: Shape of one input; the last two axes are the image's.
        words: What is written, each in turn.
        dim: Number of linearly independent written words, by default d // 228 and at least 1.
        generator: Draws places and sizes.
    """
    sizes = require_shape(shape)
    require(len(sizes) >= 2, "shape", "have an image's height and width as its last two axes", sizes)
    written = isinstance(words, Sequence) and not isinstance(words, str) and len(words) > 0
    written = written and all(isinstance(word, str) and word.strip() for word in words)
    require(written, "words", "be a sequence of words, none empty", described(words))
    require_generator(generator)
    count = max(1, math.prod(sizes) // 228) if dim is None else dim
    require_count(count, "dim")
    require(count <= math.prod(sizes[-2:]), "dim", f"be at most the {math.prod(sizes[-2:])} pixels of a channel", count)
    rows = _orthonormal_images(words, sizes[-2:], count, generator)
    channels = math.prod(sizes[:-2])
    alike = rows[:, None].expand(-1, channels, -1, -1) / math.sqrt(channels)
    return spanned(alike.reshape(count, *sizes), sizes, f"span of the words {', '.join(words)}")


def _orthonormal_images(words: Sequence[str], plane: tuple[int, ...], count: int, generator: torch.Generator) -> Tensor:
    images = torch.empty(0, *plane, dtype=torch.float64)
    for _ in range(_ROUNDS):
        drawn = [_written(words[i % len(words)], plane, generator) for i in range(len(images), count)]
        images = torch.cat([images, torch.stack(drawn)])
        columns, left_over = torch.linalg.qr(images.flatten(1).T)
        images = images[left_over.diagonal().abs() > _NEW_SHARE]
        if len(images) == count:
            rows: Tensor = columns.T
            return rows.reshape(images.shape)
    require(False, "dim", f"be at most {len(images)}, the independent images these words make in {plane}", count)
    return images


def _written(word: str, plane: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """One word at a random size and place, of unit length; cut off where even the smallest does not fit."""
    from PIL import Image, ImageDraw, ImageFont

    height, width = plane
    wide = ImageFont.load_default(100).getlength(word) / 100
    largest = max(_SMALLEST_FONT, min(height, width / wide))
    font = ImageFont.load_default(_SMALLEST_FONT + (largest - _SMALLEST_FONT) * _uniform(generator))
    left, top, right, bottom = font.getbbox(word)
    place = (_uniform(generator) * (width - right + left) - left, _uniform(generator) * (height - bottom + top) - top)
    canvas = Image.new("L", (width, height))
    ImageDraw.Draw(canvas).text(place, word, fill=255, font=font)
    image = torch.frombuffer(bytearray(canvas.tobytes()), dtype=torch.uint8).double().reshape(plane)
    unit: Tensor = image / torch.linalg.vector_norm(image).clamp_min(1)
    return unit


def _uniform(generator: torch.Generator) -> float:
    return float(torch.rand((), generator=generator, device=generator.device))
