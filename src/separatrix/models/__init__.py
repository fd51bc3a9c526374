"""Networks: a zoo of architectures, their weights on disk, and models of other libraries."""

from separatrix.models.zoo import ZOO, Architecture, network

__all__ = ["ZOO", "Architecture", "network"]
