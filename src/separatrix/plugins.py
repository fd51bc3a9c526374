"""Pieces that other packages add, and pieces that a command line names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from typing import TypeVar

from separatrix.checks import require

Piece = TypeVar("Piece")

_PATH = re.compile(r"\w+(\.\w+)*:\w+")


def installed(group: str, kind: type[Piece]) -> dict[str, Piece]:
    """What installed packages offer under an entry-point group, by name, in the order of the names."""
    offers = sorted(entry_points(group=group), key=lambda offer: offer.name)
    return {offer.name: _of_kind(offer.load(), kind, offer.value) for offer in offers}


def chosen(names: Sequence[str], known: Mapping[str, Piece], kind: type[Piece], argument: str) -> tuple[Piece, ...]:
    """The pieces of these names, each among the known ones or written ``package.module:NAME``."""
    return tuple(known[name] if name in known else _imported(name, known, kind, argument) for name in names)


def _imported(name: str, known: Mapping[str, Piece], kind: type[Piece], argument: str) -> Piece:
    rule = f"be among {', '.join(known)}, or written package.module:NAME"
    require(bool(_PATH.fullmatch(name)), argument, rule, repr(name))
    module, _, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"`{argument}` must {rule}; got {name!r}: {error}.") from error
    return _of_kind(found, kind, name)


def _of_kind(found: object, kind: type[Piece], name: str) -> Piece:
    require(isinstance(found, kind), name, f"be a {kind.__name__}", type(found).__name__)
    assert isinstance(found, kind)
    return found
