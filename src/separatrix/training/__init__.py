"""Training: a recipe says how a batch becomes a loss, ``fit`` owns the loop."""

from separatrix.training.accuracy import accuracy as accuracy
from separatrix.training.checkpoints import Checkpoints as Checkpoints
from separatrix.training.fit import fit as fit
from separatrix.training.history import Epoch as Epoch
from separatrix.training.history import History as History
from separatrix.training.loop import Callback as Callback
from separatrix.training.loop import Progress as Progress
from separatrix.training.recipes import AbstractRecipe as AbstractRecipe
from separatrix.training.recipes import Batch as Batch
from separatrix.training.recipes import Standard as Standard
