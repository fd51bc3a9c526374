"""The networks of the literature on decision boundaries, untrained, by name."""

from separatrix.models.zoo.catalogue import ZOO, Architecture, network
from separatrix.models.zoo.form import Form

__all__ = ["ZOO", "Architecture", "Form", "network"]
