"""Rows do not depend on who does the work; what stops it is told, and loses nothing but the units at work."""

import multiprocessing
from functools import partial

import pytest
from tests.runs import toy

from separatrix.runs import carry_out, open_run
from separatrix.survey.engines import Processes

PLAN = toy.plan(6)


def carried(folder, engine=None, work=toy.work):
    settings = {} if engine is None else {"engine": engine}
    return carry_out(open_run(folder, toy.CONFIG, inputs=toy.INPUTS, seeds=[0]), PLAN, work, **settings)


def fail(unit):
    if unit == PLAN[3]:
        raise ValueError("`points` must be other ones; got these.")
    return toy.work(unit)


def test_several_processes_leave_what_one_leaves(tmp_path):
    alone = carried(tmp_path / "alone")
    together = carried(tmp_path / "together", Processes(2, threads=1))
    assert toy.held(alone) == toy.held(together)
    assert together.manifest.state == "complete"


def test_an_error_in_a_worker_is_the_error_of_the_call_and_no_worker_stays(tmp_path):
    with pytest.raises(ValueError, match="`points` must be other ones"):
        carried(tmp_path / "run", Processes(1, threads=1), fail)
    assert multiprocessing.active_children() == []
    continued = carried(tmp_path / "run")
    assert toy.held(continued) == toy.held(carried(tmp_path / "alone"))


def test_no_worker_stays_when_nobody_wants_the_rest():
    records = Processes(1, threads=1)(partial(_record), PLAN)
    assert next(iter(records)) in [unit.key for unit in PLAN]
    records.close()
    assert multiprocessing.active_children() == []


def _record(unit):
    return unit.key


@pytest.mark.parametrize("settings", [{"workers": 0}, {"workers": 1, "threads": 0}])
def test_bad_numbers_are_refused(settings):
    with pytest.raises(ValueError, match="must be"):
        Processes(**settings)
