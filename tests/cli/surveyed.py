"""Models for the command line to survey."""

import torch
from torch import nn

from separatrix.classifier import Classifier


def network():
    """A linear classifier of 28 × 28 pixels, with fixed weights."""
    layer = nn.Linear(784, 10)
    with torch.no_grad():
        layer.weight.copy_(torch.sin(torch.arange(7840.0)).reshape(10, 784))
        layer.bias.zero_()
    return Classifier(nn.Sequential(nn.Flatten(), layer).eval(), bounds=(0, 1))


def probabilities():
    """The same with a softmax at its end."""
    model = network()
    model.module.append(nn.Softmax(dim=1).eval())
    return model


class Noisy(nn.Module):
    """Adds noise to what it is given, of another draw at each call."""

    def forward(self, values):
        return values + 0.1 * torch.randn_like(values)


def noisy():
    """The network with noise at its end."""
    model = network()
    model.module.append(Noisy().eval())
    return model
