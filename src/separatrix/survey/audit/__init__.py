"""What is looked at before any number is believed: checks of a model that may be unsound in every way."""

from __future__ import annotations

from separatrix.survey.audit.answers import ANSWERS
from separatrix.survey.audit.examined import Check as Check
from separatrix.survey.audit.examined import Examined as Examined
from separatrix.survey.audit.examined import left_alone as left_alone
from separatrix.survey.audit.gradients import GRADIENTS
from separatrix.survey.audit.state import AFTERWARDS, STATE

CHECKS: tuple[Check, ...] = (*STATE, *ANSWERS, *GRADIENTS, *AFTERWARDS)
"""All of them, in the order in which they are made: that which looks at what the others have left comes last."""
