"""Samples as pictures within a page: what they are, what is added, and what they then are."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from separatrix.plots.pictures import pixels, signed

_SIDE, _EXACT = 112, 64  # largest side in the page; the largest that is stored pixel for pixel


def drawable(pictures: Tensor) -> bool:
    """Whether a tensor holds pictures ``(k, channels, height, width)`` of one or three channels."""
    return pictures.ndim == 4 and pictures.shape[1] in (1, 3) and min(pictures.shape[2:]) >= 1


def image_uri(start: Tensor) -> str:
    """A picture as it is, from values 0 … 255."""
    return _uri(pixels(start.float() / 255))


def added_uri(added: Tensor) -> str:
    """What is added, from its most negative to its most positive entry, zero in the middle."""
    finite = torch.nan_to_num(added.float(), posinf=0.0, neginf=0.0)
    return _uri(signed(finite if bool(finite.any()) else finite + 1e-30))


def beyond_uri(start: Tensor, added: Tensor, scale: tuple[float, float]) -> str:
    """What the picture then is; what leaves the scale, from black to white, is cut to it for the screen."""
    change = torch.nan_to_num(added.float(), posinf=0.0, neginf=0.0) / (scale[1] - scale[0])
    return _uri(pixels(start.float() / 255 + change))


def _uri(picture: NDArray[np.float64]) -> str:
    image = Image.fromarray(np.round(picture * 255).astype(np.uint8))
    if max(image.size) > _SIDE:
        scale = _SIDE / max(image.size)
        width, height = (max(round(side * scale), 1) for side in image.size)
        image = image.resize((width, height), Image.Resampling.BOX)
    held = BytesIO()
    if max(image.size) <= _EXACT:
        image.save(held, "PNG", optimize=True)
        return f"data:image/png;base64,{b64encode(held.getvalue()).decode()}"
    image.save(held, "WEBP", quality=80)
    return f"data:image/webp;base64,{b64encode(held.getvalue()).decode()}"
