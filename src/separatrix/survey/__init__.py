"""Surveys: hand over a model and data, get the whole picture.

A survey asks questions of a model, each in one module of ``survey.questions``, and leaves a run: a folder of tables
that the report is made from. Other packages add questions by the entry-point group ``separatrix.questions``.
"""

from separatrix.survey.engines import Processes as Processes
from separatrix.survey.plan import Pace as Pace
from separatrix.survey.plan import Plan as Plan
from separatrix.survey.plan import pace as pace
from separatrix.survey.plan import plan as plan
from separatrix.survey.question import Answered as Answered
from separatrix.survey.question import Cost as Cost
from separatrix.survey.question import Inputs as Inputs
from separatrix.survey.question import Question as Question
from separatrix.survey.questions import QUESTIONS as QUESTIONS
from separatrix.survey.running import NotMeasurable as NotMeasurable
from separatrix.survey.running import Shard as Shard
from separatrix.survey.running import survey as survey
from separatrix.survey.subject import Subject as Subject
