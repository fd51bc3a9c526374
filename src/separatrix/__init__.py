"""Separatrix: measure, map and reshape the decision boundaries of classifiers.

Ask a *question* of a model and points, by a *method*, and get an *answer*.
"""

from importlib import metadata as _metadata

from separatrix import data as data
from separatrix import subspaces as subspaces
from separatrix import training as training
from separatrix.attacks import BIM as BIM
from separatrix.attacks import FGSM as FGSM
from separatrix.attacks import PGD as PGD
from separatrix.attacks import SPSA as SPSA
from separatrix.attacks import AutoAttack as AutoAttack
from separatrix.attacks import Perturbed as Perturbed
from separatrix.attacks import RobustnessCurve as RobustnessCurve
from separatrix.attacks import SmallestRadius as SmallestRadius
from separatrix.attacks import perturb as perturb
from separatrix.attacks import robust_accuracy as robust_accuracy
from separatrix.attacks import smallest_radius as smallest_radius
from separatrix.attacks import standing as standing
from separatrix.attacks import zero_gradient_share as zero_gradient_share
from separatrix.batches import each as each
from separatrix.boundary import BoundaryPoints as BoundaryPoints
from separatrix.classifier import Classifier as Classifier
from separatrix.data import load_data as load_data
from separatrix.fields import Loss as Loss
from separatrix.fields import Margin as Margin
from separatrix.fields import linearise as linearise
from separatrix.fields import linearise_pairs as linearise_pairs
from separatrix.models import load_model as load_model
from separatrix.norms import L2 as L2
from separatrix.norms import Linf as Linf
from separatrix.norms import Norm as Norm
from separatrix.search import DDN as DDN
from separatrix.search import LBFGS as LBFGS
from separatrix.search import Best as Best
from separatrix.search import DeepFool as DeepFool
from separatrix.search import Slide as Slide
from separatrix.search import line_distance as line_distance
from separatrix.search import minimal_perturbation as minimal_perturbation
from separatrix.statistics import MarginSummary as MarginSummary
from separatrix.statistics import summarise as summarise
from separatrix.subspaces import Subspace as Subspace
from separatrix.subspaces import principal_angles as principal_angles
from separatrix.survey import survey as survey

try:
    __version__ = _metadata.version("separatrix")
except _metadata.PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0"
