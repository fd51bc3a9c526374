"""Pictures in files: opened when they are read, cut to one size, grey or in three colours."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeGuard

import numpy as np
import torch
from torch import Tensor

from separatrix.checks import require, require_count

if TYPE_CHECKING:
    from PIL.Image import Image

Colours = Literal["L", "RGB"]
"""Grey, or red, green and blue."""

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".webp")
_EIGHT_BIT = {"1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr", "HSV", "LAB"}


@dataclass(frozen=True)
class Picture:
    """How a picture becomes a tensor of bytes ``(channels, height, width)``.

    Attributes:
        size: Side of the square it is cut to; ``None`` leaves it as it is.
        crop: Share of the shorter side that the square keeps; 0.875 is a picture scaled to 256, cut to 224.
        colours: Grey, or three colours; ``None`` is its own.
    """

    size: int | None = None
    crop: float = 1.0
    colours: Colours | None = None

    def __post_init__(self) -> None:
        if self.size is not None:
            require_count(self.size, "size")
        share = isinstance(self.crop, (int, float)) and 0 < self.crop <= 1
        require(share, "crop", "be a share of the shorter side, above 0 and at most 1", repr(self.crop))
        require(self.colours in (None, "L", "RGB"), "colours", "be 'L' or 'RGB'", repr(self.colours))
        fix = "Give a `size` too."
        require(self.size is not None or self.crop == 1, "crop", "come with a `size`", repr(self.crop), fix)

    def __call__(self, picture: Image | Path) -> Tensor:
        """The picture as bytes ``(channels, height, width)``."""
        return self._tensor(opened(picture) if isinstance(picture, Path) else picture)

    def _tensor(self, picture: Image) -> Tensor:
        from PIL import ImageOps

        own = own_colours(picture)
        coloured = ImageOps.exif_transpose(picture).convert(self.colours or own)
        values = np.array(coloured if self.size is None else _cut(coloured, self.size, self.crop))
        return torch.from_numpy(values.reshape(*values.shape[:2], -1)).movedim(-1, 0).contiguous()


def opened(path: Path) -> Image:
    """The picture in a file, all of it in memory."""
    from PIL import Image

    bombs = Image.DecompressionBombWarning, Image.DecompressionBombError  # above 89, and above 179 million pixels
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", bombs[0])
            with Image.open(path) as picture:
                picture.load()
    except (OSError, ValueError, SyntaxError, *bombs) as error:
        raise ValueError(f"`{path}` must be a whole picture; got: {error}.") from error
    return picture


def own_colours(picture: Image) -> Colours:
    """Whether a picture is grey or in colour; one of more than 8 bits a channel is refused."""
    named = getattr(picture, "filename", "") or "picture"
    require(picture.mode in _EIGHT_BIT, named, "have 8 bits a channel", f"mode {picture.mode}")
    return "L" if picture.mode in ("1", "L", "LA") else "RGB"


def is_picture(thing: object) -> TypeGuard[Image]:
    """Whether this is a picture of the imaging library, which need not be imported to know."""
    return any(kind.__module__ == "PIL.Image" and kind.__name__ == "Image" for kind in type(thing).__mro__)


def _cut(picture: Image, size: int, crop: float) -> Image:
    """The central square, scaled; nothing is resampled where the scale is 1."""
    from PIL.Image import Resampling

    scale = math.floor(size / crop + 0.5) / min(picture.size)
    if scale != 1:
        sides = [max(size, math.floor(side * scale + 0.5)) for side in picture.size]
        picture = picture.resize((sides[0], sides[1]), Resampling.BICUBIC)
    left, top = ((side - size) // 2 for side in picture.size)
    return picture.crop((left, top, left + size, top + size))
