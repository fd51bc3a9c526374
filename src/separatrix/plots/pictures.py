"""Images, and what is added to them."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from torch import Tensor


def before_and_after(starts: Tensor, ends: Tensor, *, title: str) -> Figure:
    """Each image as it is, what is added to it on a scale of its own, and what it then is.

    Args:
        starts: Images ``(n, 1, height, width)`` or ``(n, 3, height, width)``, pixels in [0, 1].
        ends: The same images, changed.
        title: Of the figure.
    """
    figure, grid = plt.subplots(
        3, len(starts), figsize=(1.5 * len(starts) + 0.8, 5), squeeze=False, layout="constrained"
    )
    for column, start, end in zip(grid.T, starts, ends, strict=True):
        length, largest = float((end - start).norm()), float((end - start).abs().max())
        for axes, picture in zip(column, (pixels(start), signed(end - start), pixels(end)), strict=True):
            axes.imshow(picture, interpolation="nearest")
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set_visible(False)
        column[1].set_xlabel(f"ℓ2 {length:.3g}, up to ±{largest:.2g}", fontsize=7)
    for axes, name in zip(
        grid[:, 0], ("image", "added, each on\na scale of its own", "answered otherwise"), strict=True
    ):
        axes.set_ylabel(name)
    figure.suptitle(title)
    return figure


def pixels(image: Tensor) -> NDArray[np.float64]:
    """Red, green and blue ``(height, width, 3)``, cut to [0, 1] for the screen."""
    return np.asarray(image.detach().cpu().expand(3, -1, -1).permute(1, 2, 0).clamp(0, 1), dtype=np.float64)


def signed(change: Tensor) -> NDArray[np.float64]:
    """Blue to red on the scale of its largest entry; colour channels are shown around mid-grey."""
    relative = change.detach().cpu() / change.abs().max().cpu()
    if len(relative) == 3:
        return pixels(0.5 + relative / 2)
    return np.asarray(plt.get_cmap("RdBu_r")(0.5 + relative[0].numpy() / 2))[..., :3]
