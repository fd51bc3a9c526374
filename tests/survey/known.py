"""Models whose answers are known, and questions asked of them."""

import torch
from torch import nn

from separatrix import Classifier
from separatrix.tables import Rows
from separatrix.testing import small_network

WIDE = (-6.0, 6.0)  # so far apart that radii in parts of this range reach the margins of the network below


class Known(nn.Module):
    """A classifier of known geometry as a module."""

    def __init__(self, geometry):
        super().__init__()
        self.geometry = geometry

    def forward(self, points):
        return self.geometry(points)


def known(geometry, bounds=None):
    return Classifier(Known(geometry), bounds=bounds).eval()


def constant(points):
    """Always the second of three classes, with a gradient of zero."""
    return 0 * points.flatten(1).sum(1, keepdim=True) + points.new_tensor([0.0, 1.0, 0.5])


def network(bounds=WIDE):
    """A convolutional network for 1×8×8 inputs, three classes."""
    return Classifier(small_network(dtype=torch.float64), bounds=bounds).eval()


def pictures(count, shape=(1, 8, 8)):
    """Points uniform in [0, 1]."""
    return torch.rand(count, *shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def asked(question, model, points, ids=None, seed=0):
    """The rows of a question's table, and its tensors."""
    ids = torch.arange(len(points)) if ids is None else ids
    part = question.part(model, points, ids, seed)
    return Rows.of(part.tables[question.name]), part.tensors.get(question.name, {})
