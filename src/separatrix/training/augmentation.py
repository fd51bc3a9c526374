"""Pictures seen a little differently in each epoch: mirrored, and moved by a few pixels."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor
from torch.nn.functional import pad

from separatrix.norms import per_sample
from separatrix.randomness import uniform

Augmentation = Literal["crop", "flip-crop"]
AUGMENTATIONS: tuple[str, ...] = get_args(Augmentation)

_REACH = 8  # a picture moves by up to an eighth of its side


def augmented(images: Tensor, kind: Augmentation, *, seed: int, ids: Tensor, stream: int) -> Tensor:
    """Images ``(n, channels, height, width)``, each changed as (seed, stream, id) say, whatever the batch.

    ``"crop"`` moves a picture by up to an eighth of its side in each direction, over black; ``"flip-crop"`` also
    mirrors half of them, left to right.
    """
    draws = uniform(seed, ids, (3,), stream=stream).to(images.device)
    if kind == "flip-crop":
        images = torch.where(per_sample(draws[:, 0] < 0.5, images), images.flip(3), images)
    return _moved(images, draws[:, 1:])


def _moved(images: Tensor, draws: Tensor) -> Tensor:
    n, _, height, width = images.shape
    down, right = height // _REACH, width // _REACH
    windows = pad(images, (right, right, down, down)).unfold(2, height, 1).unfold(3, width, 1)
    positions = (draws * draws.new_tensor([2 * down + 1, 2 * right + 1])).long()
    return windows[torch.arange(n, device=images.device), :, positions[:, 0], positions[:, 1]]
