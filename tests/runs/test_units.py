"""What is done is kept, what is lost is computed anew, the order is the plan's, and each call says how far it is."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice

import pytest
import torch
from tests.runs import toy

from separatrix.runs import Part, Progress, carry_out, carry_out_one, open_run, read_run
from separatrix.runs.parts import standing


@pytest.fixture
def whole(tmp_path):
    """What an uninterrupted run of five units holds."""
    return toy.held(toy.carried(tmp_path / "whole", 5))


@pytest.fixture
def run(tmp_path):
    return open_run(tmp_path / "run", toy.CONFIG)


def file_of(run, unit, kind="tables/margins", suffix="parquet"):
    return run.folder / kind / f"{unit.key}.{suffix}"


def test_what_is_done_is_not_done_again(tmp_path, whole):
    asked = toy.Asked()
    run = toy.carried(tmp_path / "whole", 5, asked)
    assert asked.units == []
    assert toy.held(run) == whole
    assert len(run.manifest.sessions) == 1


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def delete(path):
    path.unlink()


@pytest.mark.parametrize("harm", [flip, cut, delete])
@pytest.mark.parametrize(
    ("kind", "suffix"), [("tables/margins", "parquet"), ("tensors/boundary", "safetensors"), ("units", "json")]
)
def test_a_part_that_is_lost_or_changed_is_found_and_computed_anew(tmp_path, whole, harm, kind, suffix):
    run = toy.carried(tmp_path / "run", 5)
    lost = toy.plan(5)[2]
    harm(file_of(run, lost, kind, suffix))
    asked = toy.Asked()
    run = toy.carried(tmp_path / "run", 5, asked)
    assert asked.units == [lost]
    assert toy.held(run) == whole
    never_done = (harm, kind) == (delete, "units")  # without its record, a unit is one that was not done yet
    assert run.manifest.recomputed == (0 if never_done else 1)


@pytest.mark.parametrize("harm", [flip, cut])
def test_a_changed_part_is_never_read(tmp_path, harm):
    run = toy.carried(tmp_path / "run")
    path = file_of(run, toy.plan()[1])
    harm(path)
    with pytest.raises(ValueError, match="`folder` must hold what its units recorded; got a changed") as caught:
        run.table("margins")
    assert str(path) in str(caught.value)
    path.unlink()
    with pytest.raises(ValueError, match="`folder` must hold what its units recorded; got no"):
        run.table("margins")


def test_a_lost_part_is_counted_once_whatever_interrupts_its_return(tmp_path):
    run = toy.carried(tmp_path / "run")
    cut(file_of(run, toy.plan()[1]))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            toy.carried(tmp_path / "run", work=lambda unit: 1 / 0)
    assert read_run(run.folder).manifest.done == 2
    assert toy.carried(tmp_path / "run").manifest.recomputed == 1


def backwards(carry, units):
    return [carry(unit) for unit in reversed(units)]


def on_threads(carry, units):
    with ThreadPoolExecutor(3) as pool:
        yield from pool.map(carry, units)


@pytest.mark.parametrize("engine", [map, backwards, on_threads])
def test_no_engine_changes_a_byte(tmp_path, whole, engine):
    run = open_run(tmp_path / "run", toy.CONFIG, inputs=toy.INPUTS, seeds=[0])
    assert toy.held(carry_out(run, toy.plan(5), toy.work, engine=engine)) == whole


def test_workers_elsewhere_find_the_folder(tmp_path, whole, monkeypatch):
    (tmp_path / "elsewhere").mkdir()

    def elsewhere(carry, units):
        monkeypatch.chdir(tmp_path / "elsewhere")
        records = list(map(carry, units))
        monkeypatch.chdir(tmp_path)
        return records

    monkeypatch.chdir(tmp_path)
    run = open_run("run", toy.CONFIG, inputs=toy.INPUTS, seeds=[0])
    assert toy.held(carry_out(run, toy.plan(5), toy.work, engine=elsewhere)) == whole


def test_two_at_once_on_one_folder_spoil_nothing(tmp_path, whole):
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda _: toy.carried(tmp_path / "run", 5), range(2)))
    assert [toy.held(run) for run in runs] == [whole, whole]
    assert read_run(tmp_path / "run").manifest.state == "complete"


def test_each_unit_is_told(run):
    told = []
    carry_out(run, toy.plan(4), toy.work, progress=told.append)
    assert [progress.done for progress in told] == [0, 1, 2, 3, 4]
    assert all((progress.units, progress.found) == (4, 0) for progress in told)
    assert [progress.seconds for progress in told] == sorted(progress.seconds for progress in told)
    again = []
    carry_out(run, toy.plan(4), toy.work, progress=again.append)
    assert again == [Progress(4, 4, 4, 0.0)]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, SystemExit])
def test_an_interruption_passes_on_and_the_same_call_continues(tmp_path, whole, error):
    def stopping(unit):
        if unit == toy.plan(5)[3]:
            raise error
        return toy.work(unit)

    with pytest.raises(error):
        toy.carried(tmp_path / "run", 5, stopping)
    manifest = read_run(tmp_path / "run").manifest
    assert (manifest.state, manifest.done, manifest.planned) == ("interrupted", 3, 5)
    assert manifest.rows == {"margins": 12}
    assert read_run(tmp_path / "run").table("margins").num_rows == 12
    asked = toy.Asked()
    run = toy.carried(tmp_path / "run", 5, asked)
    assert asked.units == toy.plan(5)[3:]
    assert toy.held(run) == whole
    assert run.manifest.state == "complete"
    assert len(run.manifest.sessions) == 2
    assert run.manifest.seconds == sum(session.seconds for session in run.manifest.sessions)


def test_a_share_of_the_plan_is_a_run_in_part(run):
    units = toy.plan(4)
    run = carry_out(run, units[::2], toy.work, plan=units)
    assert (run.manifest.state, run.manifest.planned, run.manifest.done) == ("partial", 4, 2)
    assert run.table("margins")["id"].to_pylist() == [0, 1, 2, 3, 8, 9, 10, 11]
    run = carry_out(run, units[1::2], toy.work, plan=units)
    assert run.manifest.state == "complete"
    assert run.table("margins")["id"].to_pylist() == list(range(16))


def test_a_later_call_may_bring_other_questions(run):
    run = carry_out(run, toy.plan(2), toy.work)
    run = carry_out(run, toy.plan(3, name="curvature"), toy.work)
    assert run.tables() == ("margins", "curvature")
    assert (run.manifest.planned, run.manifest.done) == (5, 5)
    assert run.manifest.rows == {"margins": 8, "curvature": 12}
    assert len(run.tensors("boundary")["normals"]) == 20


def test_answers_do_not_depend_on_the_session_that_gave_them(tmp_path, whole):
    for stop in range(1, 5):
        run = open_run(tmp_path / str(stop), toy.CONFIG, inputs=toy.INPUTS, seeds=[0])
        for share in (toy.plan(5)[stop:], toy.plan(5)[:stop]):
            run = carry_out(run, share, toy.work, plan=toy.plan(5))
        assert toy.held(run) == whole


UNITS = toy.plan(2)
REFUSED = {
    "none": ([], None, "`units` must hold at least one unit; got none"),
    "others": ([3], None, "`units` must hold units; got int among them"),
    "twice": ([*UNITS, UNITS[0]], None, "`units` must all differ; got margins of samples 0 … 3 .* 2 times"),
    "twice planned": (UNITS, [*UNITS, *UNITS], "`plan` must all differ"),
    "not planned": (UNITS, UNITS[:1], "`units` must be among those of `plan`; got margins of samples 4 … 7"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_plans_are_refused_before_work_begins(run, case):
    units, plan, message = REFUSED[case]
    asked = toy.Asked()
    with pytest.raises(ValueError, match=message):
        carry_out(run, units, asked, plan=plan)
    assert asked.units == []


@pytest.mark.parametrize(
    ("units", "got"),
    [(toy.plan(3), "1 others"), (toy.plan(2, 5), "4 others"), (toy.plan(2)[::-1], "another order")],
    ids=["more", "larger", "reordered"],
)
def test_a_question_is_cut_once(run, units, got):
    carry_out(run, toy.plan(2), toy.work)
    message = rf"`units` must be those planned for margins in .*; got {got}\. Use another folder\."
    with pytest.raises(ValueError, match=message):
        carry_out(run, units, toy.work)


def test_work_that_gives_no_part_is_refused(run):
    with pytest.raises(ValueError, match="`work` must give a Part; got None"):
        carry_out(run, UNITS, lambda unit: None)
    assert read_run(run.folder).manifest.state == "interrupted"


def test_an_engine_that_skips_units_leaves_a_run_in_part(run):
    run = carry_out(run, UNITS, toy.work, engine=lambda carry, units: islice(map(carry, units), 1))
    assert run.manifest.state == "partial"


def test_the_global_random_state_is_left_alone(run):
    before = torch.get_rng_state()
    carry_out(run, UNITS, lambda unit: replace(toy.work(unit), counts={}))
    assert torch.equal(torch.get_rng_state(), before)


def test_rows_are_counted_where_units_leave_different_tables(run):
    def by_turns(unit):
        part = toy.work(unit)
        return part if unit == UNITS[0] else Part({"others": part.tables["margins"]})

    run = carry_out(run, UNITS, by_turns)
    assert run.tables() == ("margins", "others")
    assert run.table("others")["id"].to_pylist() == [4, 5, 6, 7]


def test_a_unit_can_be_sent_to_another_process(run):
    carry = pickle.loads(pickle.dumps(partial(carry_out_one, run.folder, toy.work)))
    record = carry(pickle.loads(pickle.dumps(UNITS[0])))
    assert pickle.loads(pickle.dumps(record)) == standing(run.folder, UNITS[0])
    asked = toy.Asked()
    assert carry_out_one(run.folder, asked, UNITS[0]) == record
    assert asked.units == []
