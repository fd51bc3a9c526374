"""Linear subspaces of the input space: where a search may walk, and how much of a vector lies where.

A DCT block, a complement and what ``without`` leaves are projectors, never dense bases; a random basis for each sample
is made when its batch is reached.
"""

from separatrix.subspaces.base import Subspace as Subspace
from separatrix.subspaces.base import full as full
from separatrix.subspaces.base import span as span
from separatrix.subspaces.base import span_each as span_each
from separatrix.subspaces.directions import leading as leading
from separatrix.subspaces.directions import principal_angles as principal_angles
from separatrix.subspaces.lettering import words as words
from separatrix.subspaces.randoms import random as random
from separatrix.subspaces.randoms import random_each as random_each
from separatrix.subspaces.rotations import rotated as rotated
from separatrix.subspaces.spectral import dct_bands as dct_bands
from separatrix.subspaces.spectral import dct_block as dct_block
from separatrix.subspaces.spectral import dct_diagonal as dct_diagonal
