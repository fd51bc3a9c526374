"""EfficientNet-lite on ImageNet, for ``load_model("examples.efficientnet_lite:lite0")``.

The architecture is PyPI's `efficientnet_lite_pytorch`; the weights, `efficientnet-lite/*.pth`, lie in the folder that
the environment variable SEPARATRIX_DATA names. Inputs are pixels in [0, 1], 224 × 224 for lite0, 240 for lite1 and
260 for lite2.
"""

from __future__ import annotations

import os
from pathlib import Path

import separatrix as sx
from separatrix.models import load_weights

MEAN, STD = 127 / 255, 128 / 255  # the networks were trained on (byte − 127) / 128


def lite0() -> sx.Classifier:
    """EfficientNet-lite0: 4.7 million weights."""
    return _classifier("efficientnet-lite0")


def lite1() -> sx.Classifier:
    """EfficientNet-lite1: 5.4 million weights."""
    return _classifier("efficientnet-lite1")


def lite2() -> sx.Classifier:
    """EfficientNet-lite2: 6.1 million weights."""
    return _classifier("efficientnet-lite2")


def _classifier(name: str) -> sx.Classifier:
    try:
        from efficientnet_lite_pytorch import EfficientNet
    except ImportError as error:
        advice = "pip install --no-deps efficientnet_lite_pytorch"
        raise ImportError(f"{name} needs efficientnet_lite_pytorch: {advice}") from error
    module = EfficientNet.from_name(name)
    load_weights(module, _weights(name))
    return sx.Classifier(module.eval(), MEAN, STD, bounds=(0.0, 1.0))


def _weights(name: str) -> Path:
    folder = Path(os.environ.get("SEPARATRIX_DATA", ".")) / "efficientnet-lite"
    files = sorted(folder.glob(f"{name}-*.pth"))
    if not files:
        raise FileNotFoundError(f"No weights {name}-*.pth in {folder}. Set SEPARATRIX_DATA to the folder above it.")
    return files[0]
