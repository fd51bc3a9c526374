"""Equal settings have one text, others another."""

import itertools
import json
import math
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import PurePosixPath

import numpy as np
import pytest
import torch

from separatrix.runs import canonical, differences, fingerprint, plain


class Scale(Enum):
    SMOKE = 1


@dataclass(frozen=True)
class Walk:
    overshoot: float = 0.02
    candidates: int | None = None


@dataclass(frozen=True)
class Other:
    overshoot: float = 0.02
    candidates: int | None = None


@dataclass(frozen=True)
class Settings:
    samples: int = 100
    method: Walk | Other = field(default_factory=Walk)
    radii: tuple[float, ...] = (0.5, 1.0)


def test_the_order_of_names_does_not_count():
    for order in itertools.permutations({"a": 1, "b": [2, 3], "c": {"d": None}}.items()):
        assert canonical(dict(order)) == '{"a":1,"b":[2,3],"c":{"d":null}}'


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, 1.0),
        (0.0, -0.0),
        ((1, 2), [1, 2]),
        (range(2, 5), (2, 3, 4)),
        ({3, 1, 2}, frozenset([1, 2, 3])),
        (np.float64(0.1), 0.1),
        (np.int64(3), 3),
        (torch.float32, "torch.float32"),
        (PurePosixPath("a/b"), "a/b"),
        (Scale.SMOKE, "SMOKE"),
        (math.inf, "inf"),
        (Settings(), {"class": "Settings", "samples": 100, "radii": [0.5, 1], "method": plain(Walk())}),
    ],
    ids=str,
)
def test_what_is_the_same_has_one_text(left, right):
    assert canonical(left) == canonical(right)
    assert fingerprint({"value": left}) == fingerprint({"value": right})


def test_what_differs_has_texts_that_differ():
    changed = [
        Settings(),
        Settings(samples=101),
        Settings(method=Other()),
        Settings(method=Walk(0.1)),
        Settings(radii=(1.0, 0.5)),
        Settings(radii=(0.5, math.nan)),
        {"samples": True},
        {"samples": 1},
        {"samples": "1"},
        {"samples": None},
    ]
    assert len({fingerprint(settings) for settings in changed}) == len(changed)


@pytest.mark.parametrize("number", [0.1, 1e300, 2.0**60, -5e-324, 1 / 3])
def test_numbers_keep_their_value(number):
    assert json.loads(canonical(number)) == number
    assert len(canonical(number)) < 25


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"method": {"step": len}}, r"`config\.method\.step` must be a number, .* got <built-in function len>\."),
        ({"points": torch.zeros(3, 2)}, r"`config\.points` must .* got a tensor of shape \(3, 2\)\."),
        ([1, b"raw"], r"`config\.1` must .* got b'raw'\."),
        (Walk, r"`config` must .* got <class"),
    ],
)
def test_what_json_cannot_say_is_refused_by_its_place(value, message):
    with pytest.raises(ValueError, match=message):
        canonical(value)


def test_differences_are_named_one_by_one():
    before = Settings()
    after = replace(before, samples=200, method=Walk(0.1))
    assert differences(plain(before), plain(after)) == ("method.overshoot: 0.02 → 0.1", "samples: 100 → 200")
    assert differences(plain(before), plain(Settings())) == ()


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ({}, {"a": 1}, ("a: absent → 1",)),
        ({"a": {}}, {}, ("a: {} → absent",)),
        ({"a": True}, {"a": 1}, ("a: true → 1",)),
        ({"a": [1, 2]}, {"a": [1, 3]}, ("a: [1, 2] → [1, 3]",)),
        ({"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 1}, {"b": 3}]}, ("a.1.b: 2 → 3",)),
        ({"a": "0f" * 32}, {"a": "ℓ∞"}, ("a: 0f0f0f0f0f0f… → ℓ∞",)),
        ({"a": 1}, {"a": {"b": 1}}, ("a: 1 → absent", "a.b: absent → 1")),
    ],
)
def test_every_kind_of_difference_is_shown(before, after, shown):
    assert differences(before, after) == shown
