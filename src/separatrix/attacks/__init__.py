"""Perturbations of bounded length: the attacks, what they fool, and how much a model withstands."""

from separatrix.attacks.autoattack import AutoAttack as AutoAttack
from separatrix.attacks.base import AbstractAttack as AbstractAttack
from separatrix.attacks.base import Task as Task
from separatrix.attacks.bounded import perturb as perturb
from separatrix.attacks.bounded import zero_gradient_share as zero_gradient_share
from separatrix.attacks.curves import RobustnessCurve as RobustnessCurve
from separatrix.attacks.curves import robust_accuracy as robust_accuracy
from separatrix.attacks.curves import standing as standing
from separatrix.attacks.gradient import BIM as BIM
from separatrix.attacks.gradient import FGSM as FGSM
from separatrix.attacks.gradient import PGD as PGD
from separatrix.attacks.perturbed import Perturbed as Perturbed
from separatrix.attacks.spsa import SPSA as SPSA
from separatrix.attacks.threshold import SmallestRadius as SmallestRadius
from separatrix.attacks.threshold import smallest_radius as smallest_radius
