"""Can the numbers of this survey be believed? Evidence about the model, before anything is measured."""

from __future__ import annotations

import math

from torch import Tensor

from separatrix.classifier import Classifier
from separatrix.precision import full_precision
from separatrix.survey.audit import CHECKS, Check, Examined, left_alone
from separatrix.survey.question import Answered, Cost, Inputs, Question
from separatrix.tables import Column

_COLUMNS = (
    Column("id", "identity", meaning="Number of the sample; −1, as every check is about the model as a whole."),
    Column("check", "label", meaning="What was looked at."),
    Column("value", "estimate", meaning="What was found; NaN where the model raised an error instead."),
    Column("limit", "estimate", meaning="The greatest value that does no harm."),
    Column("passed", "flag", meaning="Whether the value is at most its limit."),
    Column("evidence", "label", meaning="What was looked at and found, in words; where it failed, what that means."),
)


def ask(model: Classifier, points: Tensor, ids: Tensor, seed: int) -> Answered:
    """One row a check, whatever the model does; it comes back as it was."""
    with full_precision(), left_alone(model) as before:
        examined = Examined(model, points, ids, seed, before)
        outcomes = [_outcome(check, examined) for check in CHECKS]
    values, evidence = zip(*outcomes, strict=True)
    passed = [value <= check.limit for check, value in zip(CHECKS, values, strict=True)]
    told = [
        words if sound or math.isnan(value) else f"{words} {check.harm}"
        for check, words, sound, value in zip(CHECKS, evidence, passed, values, strict=True)
    ]
    columns = {"id": [-1] * len(CHECKS), "check": [check.name for check in CHECKS], "value": list(values)}
    return Answered(columns | {"limit": [float(check.limit) for check in CHECKS], "passed": passed, "evidence": told})


def _outcome(check: Check, examined: Examined) -> tuple[float, str]:
    """The check's value and evidence; an error, of whatever kind, is evidence of a failure."""
    try:
        value, words = check.look(examined)
    except (Exception, SystemExit) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(". ")
        return float("nan"), f"{': '.join(filter(None, [type(error).__name__, reason]))}."
    return float(value), words


def _cost(_: Inputs) -> Cost:
    """Counted on a sound model."""
    return Cost(forwards=24, gradients=4)


AUDIT = Question(
    name="audit",
    asks="Can the numbers of this survey be believed?",
    columns=_COLUMNS,
    ask=ask,
    cost=_cost,
    samples=32,
)
"""Asked first. AutoAttack's flags, RobustBench's rules and the checklist of Carlini et al. are its models."""
