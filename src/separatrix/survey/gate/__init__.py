"""The gate: rules that a run must keep, parsed and never evaluated as code, judged by the ends of intervals."""

from separatrix.survey.gate.evaluation import Judged as Judged
from separatrix.survey.gate.evaluation import Measured as Measured
from separatrix.survey.gate.evaluation import Verdict as Verdict
from separatrix.survey.gate.evaluation import judge as judge
from separatrix.survey.gate.evaluation import require_whole as require_whole
from separatrix.survey.gate.parsing import parse as parse
from separatrix.survey.gate.parsing import read_rules as read_rules
from separatrix.survey.gate.rules import Rule as Rule
