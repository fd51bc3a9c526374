"""Settings as text: one text for equal settings, so that a hash of it names them."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any

import numpy as np
import torch

from separatrix.checks import described, require

Plain = dict[str, "Plain"] | list["Plain"] | str | int | float | bool | None
"""What JSON can say."""


def canonical(value: object) -> str:
    """The one text of these settings: JSON with sorted keys and without spaces."""
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"))


def fingerprint(value: object) -> str:
    """SHA-256 of the settings' one text, in hexadecimal digits: equal for equal settings, whatever their order."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def plain(value: object, name: str = "config") -> Plain:
    """Settings as JSON can say them.

    A dataclass becomes its fields and its name, under ``class``, which no field can be called; a tuple becomes a
    list, a set a sorted one, a path or a dtype its text. Equal numbers become one: 1.0 is written 1. What JSON has no
    number for is written ``"inf"``, ``"-inf"`` or ``"nan"``.

    Args:
        value: Dataclasses, mappings, sequences, sets, numbers, texts and None, in any depth.
        name: What an error calls the value; entries are called by dotted names within it.
    """
    if isinstance(value, Mapping):
        return _entries(value, name)
    if is_dataclass(value) and not isinstance(value, type):
        settings = {field.name: getattr(value, field.name) for field in fields(value)}
        return {"class": type(value).__name__, **_entries(settings, name)}
    if isinstance(value, Set):
        return sorted((plain(entry, name) for entry in value), key=canonical)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [plain(entry, f"{name}.{place}") for place, entry in enumerate(value)]
    return _atom(value, name)


def differences(before: Plain, after: Plain) -> tuple[str, ...]:
    """Each entry in which two plain settings differ, as ``method.overshoot: 0.02 → 0.1``, sorted by name."""
    old, new = dict(_leaves(before)), dict(_leaves(after))
    alike = {name for name in old.keys() & new.keys() if canonical(old[name]) == canonical(new[name])}
    changed = sorted((old.keys() | new.keys()) - alike)
    return tuple(f"{name}: {_shown(old, name)} → {_shown(new, name)}" for name in changed)


_HASH = re.compile(r"[0-9a-f]{32,}")


def _entries(settings: Mapping[Any, object], name: str) -> dict[str, Plain]:
    return {str(key): plain(entry, f"{name}.{key}") for key, entry in settings.items()}


def _atom(value: object, name: str) -> Plain:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, (PurePath, torch.dtype, torch.device)):
        return str(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return _number(value)
    known = value is None or isinstance(value, (str, bool, int))
    require(known, name, "be a number, a text, None, or dataclasses, mappings and sequences of those", described(value))
    return value  # type: ignore[return-value]


def _number(value: float) -> Plain:
    if not math.isfinite(value):
        return str(float(value))
    return int(value) if value.is_integer() and abs(value) < 2**53 else float(value)


def _leaves(settings: Plain, prefix: str = "") -> Iterator[tuple[str, Plain]]:
    """Every value by its dotted name; a list of mere values is one."""
    entries = _branches(settings)
    if prefix and not entries:
        yield prefix.removesuffix("."), settings
    for key, value in entries.items():
        yield from _leaves(value, f"{prefix}{key}.")


def _branches(settings: Plain) -> Mapping[str, Plain]:
    if isinstance(settings, list) and any(isinstance(entry, (dict, list)) for entry in settings):
        return {str(place): entry for place, entry in enumerate(settings)}
    return settings if isinstance(settings, dict) else {}


def _shown(leaves: Mapping[str, Plain], name: str) -> str:
    if name not in leaves:
        return "absent"
    value = leaves[name]
    if isinstance(value, str):
        return value[:12] + "…" if _HASH.fullmatch(value) else value
    return json.dumps(value, ensure_ascii=False)
