"""Stands in for torchvision; adversarial-library needs only the name, for a distance that is not used here."""

from . import models as models
