"""Searches for the boundary: the question, the methods and the one loop they share."""

from separatrix.search.base import AbstractSearch as AbstractSearch
from separatrix.search.base import Problem as Problem
from separatrix.search.base import Step as Step
from separatrix.search.ddn import DDN as DDN
from separatrix.search.deepfool import DeepFool as DeepFool
from separatrix.search.lbfgs import LBFGS as LBFGS
from separatrix.search.line import line_distance as line_distance
from separatrix.search.minimal import minimal_perturbation as minimal_perturbation
from separatrix.search.slide import Slide as Slide
from separatrix.search.starts import Best as Best
