"""What weights alone do not say: the network they belong to, its form and its normalisation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from separatrix.checks import require
from separatrix.classifier import Classifier
from separatrix.models.weights import base_name, weight_files
from separatrix.models.zoo import network
from separatrix.runs import files

Channels = float | tuple[float, ...] | None
"""One number, or one a channel."""


@dataclass(frozen=True)
class Card:
    """A network of the zoo and the units it reads: all that is needed to build it again, but for the weights.

    Kept beside the weights as JSON, ``<stem>.json``, where any other entries may stand too: recipe, accuracy, log.

    Args:
        architecture: One of ``ZOO``.
        classes: As for ``zoo.network``, ``None`` being the architecture's own; so are the next three.
        shape: One input.
        activation: ``"relu"``, ``"softplus"`` or ``"silu"``.
        pooling: ``"max"`` or ``"average"``.
        mean: Subtracted from the input: one number, or one a channel.
        std: Divides the centred input.
        bounds: Least and greatest value an input may have.
    """

    architecture: str
    classes: int | None = None
    shape: tuple[int, ...] | None = None
    activation: str | None = None
    pooling: str | None = None
    mean: Channels = None
    std: Channels = None
    bounds: tuple[float, float] | None = None

    def classifier(self, *, seed: int = 0) -> Classifier:
        """The network, untrained and in training mode, with its normalisation; ``seed`` draws the weights."""
        form: dict[str, Any] = {name: getattr(self, name) for name in ("classes", "shape", "activation", "pooling")}
        return Classifier(network(self.architecture, **form, seed=seed), self.mean, self.std, self.bounds)

    def entries(self) -> dict[str, Any]:
        """What is set, as JSON says it."""
        return {name: entry for name, entry in asdict(self).items() if entry is not None}

    @staticmethod
    def beside(weights: Path, architecture: str) -> Card:
        """The card of a file of weights, or one with nothing but the architecture where there is none."""
        path = _path(weights)
        card = Card(**_entries(path, architecture)) if path.is_file() else Card(architecture)
        same = card.architecture == architecture
        require(same, "spec", f"name the architecture of the weights, {card.architecture}", architecture)
        return card


def require_recorded(weights: Path) -> None:
    """Refuse weights that have changed since the SHA-256 was taken that the card beside them has under ``files``."""
    card = _path(weights)
    recorded = _content(card).get("files") if card.is_file() else None
    known = recorded if isinstance(recorded, Mapping) else {}
    for path in weight_files(weights):
        same = path.name not in known or files.digest(path) == known[path.name]
        require(same, "path", f"hold the weights that {card} was written for", f"other contents in {path}")


def _path(weights: Path) -> Path:
    return base_name(weights).with_suffix(".json")


def _content(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} must be JSON: {error}") from error
    require(isinstance(content, Mapping), str(path), "hold a JSON object", type(content).__name__)
    assert isinstance(content, Mapping)
    return content


def _entries(path: Path, architecture: str) -> dict[str, Any]:
    content = _content(path)
    entries = {field.name: content[field.name] for field in fields(Card) if field.name in content}
    frozen = {name: tuple(entry) if isinstance(entry, list) else entry for name, entry in entries.items()}
    return {"architecture": architecture, **frozen}
