"""What ``separatrix doctor`` looks at."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Literal

import torch
from rich.filesize import decimal

from separatrix.cli.endings import EXPECTED, lines
from separatrix.data import Entry, available, get
from separatrix.data.known import cache as downloads
from separatrix.runs.environment import hardware, versions
from separatrix.search import minimal_perturbation
from separatrix.training.networks import cache, places

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Check:
    """One thing looked at.

    Args:
        level: Whether it is as it should be; ``"warn"`` is for what may get in the way later.
        subject: What was looked at.
        found: What was found, and what to do about it.
    """

    level: Level
    subject: str
    found: str


@dataclass(frozen=True)
class Extra:
    """Libraries that can do without, and what they are for.

    Args:
        name: As ``pip install 'separatrix[name]'`` knows it.
        packages: What it installs.
        purpose: What can be done with it.
    """

    name: str
    packages: tuple[str, ...]
    purpose: str


PACKAGES = {
    "torch": "torch",
    "numpy": "numpy",
    "scipy": "scipy",
    "safetensors": "safetensors",
    "matplotlib": "matplotlib",
    "pillow": "PIL",
    "pyarrow": "pyarrow",
    "jinja2": "jinja2",
    "cyclopts": "cyclopts",
    "rich": "rich",
}
"""What has to be there, and what it is imported as."""

EXTRAS = (
    Extra("pandas", ("pandas",), "answers as data frames"),
    Extra("autoattack", ("pyautoattack",), "AutoAttack"),
    Extra("timm", ("timm",), "models of timm"),
    Extra("torchvision", ("torchvision",), "models of torchvision"),
    Extra("huggingface", ("transformers", "datasets"), "models and data of Hugging Face"),
)

_LITTLE, _TOO_LITTLE = 1e9, 2e7  # bytes of free disk
_EXACT = 1e-9


def examined() -> Iterator[Check]:
    """Everything looked at, one after the other; what cannot even be looked at fails."""
    for subject, look in _LOOKS.items():
        try:
            yield from look()
        except Exception as error:
            yield Check("fail", subject, " ".join(lines(error)))


def _libraries() -> Iterator[Check]:
    yield Check("ok", "python", versions()["python"])
    yield Check("ok", "separatrix", versions()["separatrix"])
    yield from (_library(package, module) for package, module in PACKAGES.items())


def _library(package: str, module: str) -> Check:
    try:
        import_module(module)
        return Check("ok", package, metadata.version(package))
    except ImportError as error:
        return Check("fail", package, f"does not import ({error}): pip install {package}")


def _extras() -> Iterator[Check]:
    return (Check("ok", extra.name, _extra(extra)) for extra in EXTRAS)


def _extra(extra: Extra) -> str:
    try:
        return ", ".join(f"{package} {metadata.version(package)}" for package in extra.packages)
    except metadata.PackageNotFoundError:
        return f"not installed; for {extra.purpose}: pip install 'separatrix[{extra.name}]'"


def _hardware() -> Iterator[Check]:
    cores, threads = int(hardware()["cores"]), torch.get_num_threads()
    advice = "" if threads <= cores else f"; set OMP_NUM_THREADS={cores}"
    yield Check("warn" if advice else "ok", "processor", f"{hardware()['cpu']}, {cores} cores, {threads} used{advice}")
    with warnings.catch_warnings(record=True) as complaints:
        there = torch.cuda.is_available()
    if there:
        yield Check("ok", "GPU", f"{hardware()['gpu']}, CUDA {torch.version.cuda}")
    elif complaints:
        yield Check("warn", "GPU", " ".join(str(complaints[0].message).split()))
    else:
        yield Check("ok", "GPU", "none; all is computed on the processor")


def _data() -> Iterator[Check]:
    return (_set(entry) for entry in available())


def _set(entry: Entry) -> Check:
    if entry.found is None:
        return Check("ok", entry.name, f"{decimal(entry.size)}, to be downloaded: separatrix data get {entry.name}")
    try:
        return Check("ok", entry.name, f"{decimal(entry.size)}, {get(entry.name)}")  # its files are looked at, too
    except EXPECTED as error:
        return Check("fail", entry.name, " ".join(lines(error)))


def _folders() -> Iterator[Check]:
    networks, weights = places()
    yield _written("networks", networks, "SEPARATRIX_CACHE")
    yield _written("downloads", downloads(), "XDG_CACHE_HOME")
    yield Check("ok", "weights", _contents(weights))


def _written(subject: str, folder: Path, variable: str) -> Check:
    above = _standing(folder)
    if above.is_dir() and os.access(above, os.W_OK):
        return Check("ok", subject, _contents(folder))
    return Check("fail", subject, f"{folder} cannot be written to; set {variable} to a folder that can")


def _contents(folder: Path) -> str:
    if not folder.is_dir():
        return f"{folder}, not there yet"
    return f"{folder}, {decimal(sum(path.stat().st_size for path in folder.rglob('*') if path.is_file()))}"


def _standing(path: Path) -> Path:
    """The path itself, or the nearest above it that is there."""
    return next(place for place in (path, *path.absolute().parents) if place.exists())


def _disk() -> Iterator[Check]:
    free = shutil.disk_usage(_standing(cache())).free
    level: Level = "ok" if free >= _LITTLE else "warn" if free >= _TOO_LITTLE else "fail"
    yield Check(level, "disk", f"{decimal(free)} free for {cache()}")


def _self_check() -> Iterator[Check]:
    for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
        error = _error(device)
        level: Level = "ok" if error <= _EXACT else "fail"
        yield Check(
            level,
            f"{device} check",
            f"distances to a hyperplane, with a relative error of {error:.1g}; at most {_EXACT:g}",
        )


def _error(device: str) -> float:
    """The largest relative error of measured distances from 100 points to a hyperplane."""
    generator = torch.Generator().manual_seed(0)
    draws = torch.randn(101, 20, generator=generator, dtype=torch.float64).to(device)
    points, normal = draws[1:], draws[0] / draws[0].norm()
    boundary = minimal_perturbation(lambda inputs: (inputs @ normal)[:, None] * inputs.new_tensor([1.0, -1.0]), points)
    exact = (points @ normal).abs()
    return float((boundary.distance / exact - 1).abs().max())


_LOOKS: dict[str, Callable[[], Iterable[Check]]] = {
    "libraries": _libraries,
    "extras": _extras,
    "hardware": _hardware,
    "data": _data,
    "folders": _folders,
    "disk": _disk,
    "self-check": _self_check,
}
