"""What an architecture leaves open: classes, shape of the input, activation and pooling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from torch import nn

from separatrix.checks import described, require, require_count

SHARPNESS = 5.0  # softplus of this β is nowhere farther than ln 2 / β = 0.14 from ReLU

ACTIVATIONS: Mapping[str, Callable[[], nn.Module]] = MappingProxyType(
    {"relu": nn.ReLU, "softplus": lambda: nn.Softplus(SHARPNESS), "silu": nn.SiLU}
)
POOLS: Mapping[str, Callable[[int, int, int], nn.Module]] = MappingProxyType(
    {
        "max": nn.MaxPool2d,
        "average": lambda size, stride, padding: nn.AvgPool2d(size, stride, padding, count_include_pad=False),
    }
)


@dataclass(frozen=True)
class Form:
    """One member of a family of networks.

    Softplus or SiLU with average pooling make a network smooth: every derivative exists everywhere.

    Args:
        classes: Number of logits.
        shape: One input, channels first; or one number for vectors.
        activation: ``"relu"``, ``"softplus"`` (β = 5) or ``"silu"``.
        pooling: ``"max"`` or ``"average"`` for all local pooling, if there is any; ``None`` leaves each layer its own.
    """

    classes: int
    shape: tuple[int, ...]
    activation: str = "relu"
    pooling: str | None = None

    def __post_init__(self) -> None:
        require_count(self.classes, "classes")
        sizes = isinstance(self.shape, tuple) and len(self.shape) > 0
        sizes = sizes and all(isinstance(size, int) and size > 0 for size in self.shape)
        require(sizes, "shape", "be a tuple of whole numbers ≥ 1", described(self.shape))
        require_choice(self.activation, "activation", ACTIVATIONS)
        if self.pooling is not None:
            require_choice(self.pooling, "pooling", POOLS)

    @property
    def channels(self) -> int:
        """Channels of an image."""
        return self.shape[0]

    def activate(self) -> nn.Module:
        """A new activation layer."""
        return ACTIVATIONS[self.activation]()

    def pool(self, own: str, size: int = 2, stride: int = 2, padding: int = 0) -> nn.Module:
        """A pooling layer, of the network's ``own`` kind unless another was asked for."""
        return POOLS[self.pooling or own](size, stride, padding)


def require_choice(value: object, name: str, choices: Mapping[str, object]) -> None:
    """Refuse what is not one of the names."""
    known = isinstance(value, str) and value in choices
    require(known, name, f"be one of {', '.join(map(repr, choices))}", repr(value))
