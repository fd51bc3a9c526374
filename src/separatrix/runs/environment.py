"""What a run was made with: versions and hardware, as its manifest keeps them."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

import torch

_PACKAGES = ("torch", "numpy", "pyarrow", "separatrix")
_PROCESSORS = Path("/proc/cpuinfo")


def versions() -> dict[str, str]:
    """Python and the packages that numbers and files depend on."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}}


def hardware() -> dict[str, str | int]:
    """The processor, how many cores this process may use, and the GPUs: an empty text where there are none."""
    devices = range(torch.cuda.device_count())
    gpu = ", ".join(torch.cuda.get_device_name(device) for device in devices)
    return {"cpu": _processor(), "cores": _cores(), "gpu": gpu}


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # run from a source tree that was never installed
        return "unknown"


def _processor() -> str:
    if _PROCESSORS.exists():
        for line in _PROCESSORS.read_text("utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
