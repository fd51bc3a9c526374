"""The questions of a survey, one module each."""

from separatrix.survey.question import Question
from separatrix.survey.questions.audit import AUDIT
from separatrix.survey.questions.bands import BANDS
from separatrix.survey.questions.controls import CONTROLS
from separatrix.survey.questions.directions import DIRECTIONS
from separatrix.survey.questions.margins import MARGINS
from separatrix.survey.questions.robustness import ROBUSTNESS

QUESTIONS: tuple[Question, ...] = (AUDIT, MARGINS, CONTROLS, BANDS, DIRECTIONS, ROBUSTNESS)
"""What a survey asks unless it is told otherwise, in this order; the audit is always asked first."""

__all__ = ["AUDIT", "BANDS", "CONTROLS", "DIRECTIONS", "MARGINS", "QUESTIONS", "ROBUSTNESS"]
