"""Runs of one plan that were carried out apart make the run that did it all."""

from dataclasses import replace

import pytest
from tests.runs import toy

from separatrix.runs import carry_out, files, merge_runs, open_run, read_run

PLAN = toy.plan(6)


def share(folder, units, work=toy.work, plan=PLAN, config=toy.CONFIG):
    run = open_run(folder, config, inputs=toy.INPUTS, seeds=[0])
    return carry_out(run, units, work, plan=plan).folder


@pytest.fixture
def whole(tmp_path):
    return toy.held(toy.carried(tmp_path / "whole", 6))


def other(unit):
    part = toy.work(unit)
    return replace(part, tables={"margins": part.tables["margins"].slice(1)})


@pytest.mark.parametrize(
    "shares",
    [[PLAN], [PLAN[:2], PLAN[2:]], [PLAN[1::2], PLAN[::2]], [PLAN[4:], PLAN[:5], PLAN[2:4]]],
    ids=["one", "halves", "by turns", "overlapping"],
)
def test_shares_make_the_whole(tmp_path, whole, shares):
    sources = [share(tmp_path / str(number), units) for number, units in enumerate(shares)]
    merged = merge_runs(sources, tmp_path / "merged")
    assert toy.held(merged) == whole
    assert (merged.manifest.state, merged.manifest.done, merged.manifest.rows) == ("complete", 6, {"margins": 24})
    assert len(merged.manifest.sessions) == len(shares)
    assert merged.manifest.seconds == pytest.approx(sum(read_run(source).manifest.seconds for source in sources))
    assert read_run(merged.folder).manifest == merged.manifest


def test_merging_again_changes_nothing(tmp_path, whole, monkeypatch):
    sources = [share(tmp_path / "a", PLAN[:3]), share(tmp_path / "b", PLAN[3:])]
    first = merge_runs(sources, tmp_path / "merged").manifest
    written = set()
    monkeypatch.setattr(files, "reached", lambda stage, path: written.add(path.name))
    again = merge_runs(sources, tmp_path / "merged")
    assert written == {"manifest.json"}
    assert toy.held(again) == whole
    assert replace(again.manifest, updated=first.updated) == first


def test_a_merged_run_is_complete(tmp_path):
    merged = merge_runs([share(tmp_path / "a", PLAN[:3]), share(tmp_path / "b", PLAN[3:])], tmp_path / "merged")
    asked = toy.Asked()
    carry_out(merged, PLAN, asked)
    assert asked.units == []


def test_a_changed_part_is_taken_from_a_source_that_has_it_sound(tmp_path, whole):
    sources = [share(tmp_path / "a", PLAN), share(tmp_path / "b", PLAN)]
    (sources[0] / "tables" / "margins" / f"{PLAN[1].key}.parquet").write_bytes(b"spoilt")
    (sources[1] / "units" / f"{PLAN[2].key}.json").unlink()
    assert toy.held(merge_runs(sources, tmp_path / "merged")) == whole


def test_gaps_are_refused_by_name(tmp_path):
    sources = [share(tmp_path / "a", PLAN[:2]), share(tmp_path / "b", PLAN[4:])]
    message = r"`sources` must hold every unit .*; got no sound margins of samples 8 … 11 \(\w+\) and 1 more\."
    with pytest.raises(ValueError, match=message):
        merge_runs(sources, tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_a_changed_part_is_a_gap_where_no_other_has_it(tmp_path):
    source = share(tmp_path / "a", PLAN)
    (source / "tensors" / "boundary" / f"{PLAN[5].key}.safetensors").unlink()
    with pytest.raises(ValueError, match=r"got no sound margins of samples 20 … 23 \(\w+\)\."):
        merge_runs([source], tmp_path / "merged")


def test_a_record_that_points_elsewhere_is_a_gap_and_nothing_is_written_there(tmp_path):
    """A seal is no signature: whoever changes a record can seal it again."""
    source, inner = share(tmp_path / "a", PLAN), tmp_path / "deep" / "deeper" / "merged"
    record = source / "units" / f"{PLAN[1].key}.json"
    planted = "../../../planted"
    files.write_sealed(record, {**files.read_sealed(record), "unit": planted})
    for kind, ending in (("tables/margins", ".parquet"), ("tensors/boundary", ".safetensors")):
        here = source / kind / f"{PLAN[1].key}{ending}"
        (source / kind / f"{planted}{ending}").resolve().write_bytes(here.read_bytes())
    before = {path for path in tmp_path.rglob("*planted*") if path.is_file()}
    assert len(before) == 2
    with pytest.raises(ValueError, match=r"got no sound margins of samples 4 … 7 \(\w+\)\."):
        merge_runs([source], inner)
    assert {path for path in tmp_path.rglob("*planted*") if path.is_file()} == before
    assert read_run(source).table("margins").num_rows == 20


def test_units_that_differ_are_refused_by_name(tmp_path):
    sources = [share(tmp_path / "a", PLAN[:4]), share(tmp_path / "b", PLAN[3:], other)]
    message = r"`sources` must agree on the units they share; got different contents of margins of samples 12 … 15"
    with pytest.raises(ValueError, match=message) as caught:
        merge_runs(sources, tmp_path / "merged")
    assert f"in {tmp_path / 'a'} and {tmp_path / 'b'}" in str(caught.value)
    assert not (tmp_path / "merged").exists()


def test_runs_of_other_settings_are_refused_with_the_difference(tmp_path):
    changed = toy.CONFIG | {"samples": 24}
    sources = [share(tmp_path / "a", PLAN[:3]), share(tmp_path / "b", PLAN[3:], config=changed)]
    with pytest.raises(ValueError, match=r"`config` must be that of the run in .*a; got samples: 12 → 24\."):
        merge_runs(sources, tmp_path / "merged")


@pytest.mark.parametrize(
    ("plan", "got"), [(PLAN[:4], "2 units planned in .* alone"), (PLAN[::-1], "another order in .*b")]
)
def test_runs_of_other_plans_are_refused(tmp_path, plan, got):
    sources = [share(tmp_path / "a", PLAN[:3]), share(tmp_path / "b", plan[:3], plan=plan)]
    with pytest.raises(ValueError, match=f"`sources` must share one plan; got {got}"):
        merge_runs(sources, tmp_path / "merged")


def test_nothing_cannot_be_merged(tmp_path):
    with pytest.raises(ValueError, match="`sources` must hold at least one run; got none"):
        merge_runs([], tmp_path / "merged")
    with pytest.raises(ValueError, match="`folder` must hold a run; got"):
        merge_runs([tmp_path], tmp_path / "merged")


def test_a_merge_into_a_run_of_other_settings_is_refused(tmp_path):
    source = share(tmp_path / "a", PLAN)
    open_run(tmp_path / "merged", {"samples": 1})
    with pytest.raises(ValueError, match="`config` must be that of the run in"):
        merge_runs([source], tmp_path / "merged")
