"""Training: a recipe says how a batch becomes a loss, ``fit`` owns the loop."""

from separatrix.training.accuracy import accuracy as accuracy
from separatrix.training.catalogue import CATALOGUE as CATALOGUE
from separatrix.training.checkpoints import Checkpoints as Checkpoints
from separatrix.training.fit import fit as fit
from separatrix.training.history import Epoch as Epoch
from separatrix.training.history import History as History
from separatrix.training.loop import Callback as Callback
from separatrix.training.loop import Progress as Progress
from separatrix.training.network_recipe import NetworkRecipe as NetworkRecipe
from separatrix.training.networks import trained as trained
from separatrix.training.recipes import AbstractRecipe as AbstractRecipe
from separatrix.training.recipes import Batch as Batch
from separatrix.training.recipes import Standard as Standard
from separatrix.training.sources import Named as Named
from separatrix.training.sources import Source as Source
from separatrix.training.sources import TwoClass as TwoClass
