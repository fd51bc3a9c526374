"""Networks: a zoo of architectures, their weights on disk, and models of other libraries."""

from separatrix.models.card import Card
from separatrix.models.fingerprint import fingerprint
from separatrix.models.loading import load_model
from separatrix.models.weights import load_weights, read_weights, save_weights
from separatrix.models.zoo import ZOO, Architecture, network

__all__ = [
    "ZOO",
    "Architecture",
    "Card",
    "fingerprint",
    "load_model",
    "load_weights",
    "network",
    "read_weights",
    "save_weights",
]
