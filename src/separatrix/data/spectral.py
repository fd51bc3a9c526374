"""The same images in other words: their frequencies reversed, or only the low or the high ones kept.

Everything acts on the last two axes, in the precision of the images, and clips nothing: the result may leave the box
that the pixels were in. On a data set: ``data.map(dct_flip, "DCT flip")``.
"""

from __future__ import annotations

from torch import Tensor

from separatrix.checks import require, require_count, require_full_precision
from separatrix.cosine import dct2, idct2


def dct_flip(images: Tensor) -> Tensor:
    """The images whose lowest frequencies are these images' highest: cosine coefficients reversed along both axes.

    An isometry, and its own inverse.

    Args:
        images: ``(…, height, width)``.
    """
    _require_images(images)
    return idct2(dct2(images).flip((-2, -1)))


def low_pass(images: Tensor, bandwidth: int) -> Tensor:
    """The images without their fine structure: of the cosine coefficients (i, j) those with i, j < ``bandwidth``.

    Exactly bandwidth² coefficients a channel survive. It is the nearest such image.

    Args:
        images: ``(…, height, width)``.
        bandwidth: Frequencies kept along each axis.
    """
    _require_block(images, bandwidth, "bandwidth")
    coefficients = dct2(images)
    kept = coefficients.new_zeros(coefficients.shape)
    kept[..., :bandwidth, :bandwidth] = coefficients[..., :bandwidth, :bandwidth]
    return idct2(kept)


def high_pass(images: Tensor, cutoff: int) -> Tensor:
    """The images without their coarse structure: what ``low_pass`` of the same bandwidth takes away.

    Args:
        images: ``(…, height, width)``.
        cutoff: Cosine coefficients (i, j) with i, j < ``cutoff`` are removed.
    """
    _require_block(images, cutoff, "cutoff")
    kept = dct2(images).clone()
    kept[..., :cutoff, :cutoff] = 0
    return idct2(kept)


def _require_images(images: Tensor) -> None:
    shape = tuple(images.shape)
    require(len(shape) >= 2, "images", "have a height and a width as their last two axes", f"shape {shape}")
    require_full_precision(images.dtype, "images")


def _require_block(images: Tensor, side: int, name: str) -> None:
    _require_images(images)
    require_count(side, name)
    shortest = min(images.shape[-2:])
    require(side <= shortest, name, f"be at most the images' shorter side, {shortest}", side)
