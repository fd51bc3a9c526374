"""``separatrix doctor``: what it looks at, and when it objects."""

import re
import tomllib
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from tests.data.written import write_idx_set

from separatrix.cli import health
from separatrix.cli.health import EXTRAS, PACKAGES
from separatrix.data.catalogue import KNOWN

ROOT = Path(__file__).parent.parent.parent


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def names(requirements):
    return [re.match(r"[\w.-]+", requirement)[0] for requirement in requirements]


def levels(text):
    """What each subject was found to be."""
    return {line[6:].split("  ")[0]: line[:4].strip() for line in text.splitlines()[:-1]}


def test_all_is_well_here(command):
    ended = command("doctor")
    assert (ended.code, ended.err) == (0, "")
    assert set(levels(ended.out).values()) <= {"ok", "warn"}
    assert re.fullmatch(r"\d+ ok, \d+ warn, 0 fail", ended.out.splitlines()[-1])
    expected = {"python", *PACKAGES, *(extra.name for extra in EXTRAS), *KNOWN, "networks", "disk", "cpu check"}
    assert expected <= set(levels(ended.out))


def test_every_dependency_is_looked_at():
    assert list(PACKAGES) == names(project()["dependencies"])


def test_every_extra_is_looked_at():
    extras = project()["optional-dependencies"]
    assert {extra.name: list(extra.packages) for extra in EXTRAS} == {
        name: names(requirements) for name, requirements in extras.items() if name != "dev"
    }


def test_a_library_that_does_not_import_fails(command, monkeypatch):
    def imported(name):
        if name == "pyarrow":
            raise ImportError("libarrow.so is missing")
        return import_module(name)

    monkeypatch.setattr(health, "import_module", imported)
    ended = command("doctor")
    assert ended.code == 1
    assert levels(ended.out)["pyarrow"] == "fail"
    assert "does not import (libarrow.so is missing): pip install pyarrow" in ended.out
    assert "1 fail" in ended.out.splitlines()[-1]


def test_a_folder_that_cannot_be_written_to_fails(command, monkeypatch, folders):
    (folders / "file").touch()
    monkeypatch.setenv("SEPARATRIX_CACHE", str(folders / "file" / "below"))
    ended = command("doctor")
    assert ended.code == 1
    assert levels(ended.out)["networks"] == "fail"
    advice = "cannot be written to; set SEPARATRIX_CACHE to a folder that can"
    assert f"{folders / 'file' / 'below' / 'networks'} {advice}" in ended.out


def test_a_folder_of_data_that_is_not_there_fails_and_the_rest_is_looked_at(command, monkeypatch):
    monkeypatch.setenv("SEPARATRIX_DATA", "/nowhere")
    ended = command("doctor")
    assert ended.code == 1
    assert levels(ended.out)["data"] == "fail"
    assert "`SEPARATRIX_DATA` must be a folder; got '/nowhere'." in ended.out
    assert levels(ended.out)["cpu check"] == "ok"


def test_a_damaged_set_fails_and_the_others_are_looked_at(command, folders):
    for prefix in ("train", "t10k"):
        write_idx_set(
            folders / "separatrix_data" / "mnist",
            torch.zeros(1, 2, 2, dtype=torch.uint8),
            torch.arange(1),
            prefix=prefix,
        )
    ended = command("doctor")
    assert ended.code == 1
    assert levels(ended.out)["mnist"] == "fail"
    assert "train-images-idx3-ubyte.gz` must be a file of mnist, whole and undamaged; got: other contents" in ended.out
    assert levels(ended.out)["cifar10"] == "ok"


@pytest.mark.parametrize(("free", "level", "code"), [(2e9, "ok", 0), (9e8, "warn", 0), (1e6, "fail", 1)])
def test_a_full_disk_is_noticed(command, monkeypatch, free, level, code):
    monkeypatch.setattr(health.shutil, "disk_usage", lambda _: SimpleNamespace(free=int(free)))
    ended = command("doctor")
    assert levels(ended.out)["disk"] == level
    assert ended.code == code


def test_more_threads_than_cores_are_a_warning(command, monkeypatch):
    monkeypatch.setattr(health.torch, "get_num_threads", lambda: 1000)
    ended = command("doctor")
    assert ended.code == 0
    assert levels(ended.out)["processor"] == "warn"


def test_a_measurement_that_is_off_fails(command, monkeypatch):
    measured = health.minimal_perturbation

    def stretched(model, points):
        return SimpleNamespace(distance=measured(model, points).distance * (1 + 2e-9))

    monkeypatch.setattr(health, "minimal_perturbation", stretched)
    ended = command("doctor")
    assert ended.code == 1
    assert levels(ended.out)["cpu check"] == "fail"
