"""What a benchmarked method is: a name, and one function from images to points across the boundary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

from separatrix.norms import L2, Linf, Norm

NORMS = {"l2": L2, "linf": Linf}
BOTH = ("l2", "linf")
MANY, FEW = 512, 128

Search = Callable[[nn.Module, Tensor, Tensor, Norm], Tensor]
"""``(model, points, own, norm)`` to ends of the points' shape, without any box; what failed is whatever it likes."""


@dataclass(frozen=True)
class Method:
    """A method of some library, on the first ``images`` of a network's images.

    Attributes:
        name: Library and method, as the tables print it.
        search: Runs it.
        norms: Norms it is measured in.
        images: How many images it is given: few, where it is slow.
        nets: The only networks it is measured on; empty for all.
        ours: Whether it is Separatrix.
    """

    name: str
    search: Search
    norms: tuple[str, ...] = BOTH
    images: int = MANY
    nets: tuple[str, ...] = ()
    ours: bool = False

    def applies(self, net: str, norm: str, only: list[str]) -> bool:
        """Whether to measure it here; ``only`` holds parts of names, none for all."""
        wanted = not only or any(part.lower() in self.name.lower() for part in only)
        return wanted and norm in self.norms and (not self.nets or net in self.nets)


class Registry(list[Method]):
    """Methods in the order in which their adapters are written."""

    def add(self, name: str, **settings) -> Callable[[Search], Search]:
        """A decorator that registers an adapter as a method."""

        def register(search: Search) -> Search:
            self.append(Method(name, search, **settings))
            return search

        return register
