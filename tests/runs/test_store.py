"""A run says what it was made from, is continued with the same settings alone, and joins what its units left."""

import shutil
import time
from dataclasses import dataclass

import pyarrow
import pytest
import torch
from pyarrow.parquet import ParquetFile
from tests.runs import toy

from separatrix.runs import Part, carry_out, open_run, read_run
from separatrix.runs.files import read_sealed, write_sealed


@dataclass(frozen=True)
class Walk:
    overshoot: float = 0.02


@dataclass(frozen=True)
class Settings:
    samples: int = 100
    method: Walk = Walk()


@pytest.fixture
def run(tmp_path):
    return toy.carried(tmp_path / "run")


def test_the_manifest_says_what_the_run_was_made_from(run):
    manifest = read_run(run.folder).manifest
    assert manifest == run.manifest
    assert manifest.config == toy.CONFIG
    assert (manifest.inputs, manifest.seeds) == (toy.INPUTS, (0,))
    assert (manifest.state, manifest.planned, manifest.done, manifest.recomputed) == ("complete", 3, 3, 0)
    assert (manifest.rows, manifest.counts) == ({"margins": 12}, {"gradients": 24})
    assert manifest.created <= manifest.sessions[0].started <= manifest.updated
    (session,) = manifest.sessions
    assert manifest.seconds == session.seconds > 0
    assert session.versions["torch"] == torch.__version__
    assert set(session.versions) == {"python", "torch", "numpy", "pyarrow", "separatrix"}
    assert session.hardware["cores"] >= 1
    assert session.hardware["cpu"]


def test_a_reader_of_json_finds_it_all(run):
    found = read_sealed(run.folder / "manifest.json")
    assert found["format"] == 1
    assert found["config_hash"] == run.manifest.config_hash
    assert found["seconds"] == run.manifest.seconds


def test_rows_stand_in_the_order_of_the_plan(run):
    table = run.table("margins")
    assert table["id"].to_pylist() == list(range(12))
    assert table["distance"].to_pylist() == torch.arange(12).double().sqrt().tolist()
    assert run.tables() == ("margins",)


def test_what_columns_mean_is_kept(run):
    table = run.table("margins")
    assert table.schema.equals(toy.SCHEMA, check_metadata=True)
    assert table.schema.field("distance").metadata[b"norm"].decode() == "ℓ2"


def test_tensors_are_joined_along_the_batch(run):
    angles = torch.arange(12)
    assert torch.equal(run.tensors("boundary")["normals"], torch.stack([angles.cos(), angles.sin()], dim=1))


def test_a_run_can_be_moved(run, tmp_path):
    before = toy.held(run)
    moved = shutil.move(run.folder, tmp_path / "elsewhere")
    assert toy.held(read_run(moved)) == before


def test_an_opened_run_holds_nothing_yet(tmp_path):
    run = open_run(tmp_path / "new", Settings())
    assert (run.units(), run.records(), run.tables()) == ((), {}, ())
    assert run.manifest.config == {"class": "Settings", "samples": 100, "method": {"class": "Walk", "overshoot": 0.02}}
    with pytest.raises(ValueError, match="`name` must wait for tables: no unit has left any; got 'margins'"):
        run.table("margins")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda run: run.table("curves"), r"`name` must be one of 'margins'; got 'curves'\."),
        (lambda run: run.tensors("margins"), r"`name` must be one of 'boundary'; got 'margins'\."),
    ],
)
def test_what_a_run_does_not_hold_is_refused_by_name(run, ask, message):
    with pytest.raises(ValueError, match=message):
        ask(run)


def test_the_same_settings_continue_a_run(tmp_path):
    first = open_run(tmp_path / "run", Settings(), inputs={"data": "0" * 64}, seeds=(1, 2))
    again = open_run(str(tmp_path / "run"), Settings(), inputs={"data": "0" * 64}, seeds=[1, 2])
    assert again.manifest == first.manifest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"config": Settings(200, Walk(0.1))},
            "`config` must be that of the run in {}; got method.overshoot: 0.02 → 0.1; samples: 100 → 200. "
            "Use another folder.",
        ),
        (
            {"inputs": {"data": "1" * 64}},
            "`inputs` must be those of the run in {}; got data: 000000000000… → 111111111111…. Use another folder.",
        ),
        (
            {"inputs": {}},
            "`inputs` must be those of the run in {}; got data: 000000000000… → absent. Use another folder.",
        ),
        ({"seeds": (1,)}, "`seeds` must be those of the run in {}; got seeds: [1, 2] → [1]. Use another folder."),
    ],
    ids=["config", "inputs", "no inputs", "seeds"],
)
def test_changed_settings_are_refused_with_the_difference(tmp_path, change, message):
    asked = {"config": Settings(), "inputs": {"data": "0" * 64}, "seeds": (1, 2)}
    open_run(tmp_path / "run", **asked)
    before = (tmp_path / "run" / "manifest.json").read_bytes()
    with pytest.raises(ValueError, match="Use another folder") as caught:
        open_run(tmp_path / "run", **asked | change)
    assert str(caught.value) == message.format(tmp_path / "run")
    assert (tmp_path / "run" / "manifest.json").read_bytes() == before


@pytest.mark.parametrize("config", [3, None, ["a"], Settings])
def test_what_is_no_config_is_refused(tmp_path, config):
    with pytest.raises(ValueError, match="`config` must be a dataclass or a mapping of settings; got"):
        open_run(tmp_path / "run", config)
    assert not (tmp_path / "run").exists()


def test_folders_of_others_are_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("The End")
    with pytest.raises(ValueError, match=r"`folder` must hold a run or nothing; got .* with thesis.tex\. Use an empty"):
        open_run(tmp_path, Settings())
    with pytest.raises(ValueError, match=r"`folder` must be a folder; got the file .*thesis.tex"):
        open_run(tmp_path / "thesis.tex", Settings())
    with pytest.raises(ValueError, match=r"`folder` must hold a run; got .* without manifest.json"):
        read_run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_changed_manifest_is_refused_and_can_be_made_anew(run):
    before, path = toy.held(run), run.folder / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b"12", b"13"))
    with pytest.raises(
        ValueError, match=r"`folder` must hold its manifest; got a changed .*Delete .* what is done is kept"
    ):
        read_run(run.folder)
    path.unlink()
    asked = toy.Asked()
    assert toy.held(toy.carried(run.folder, work=asked)) == before
    assert asked.units == []


def test_another_format_is_refused(run):
    path = run.folder / "manifest.json"
    write_sealed(path, {**read_sealed(path), "format": 2})
    with pytest.raises(ValueError, match="`folder` must hold a run of format 1; got format 2 in"):
        read_run(run.folder)


def test_a_plan_that_leads_out_of_the_run_is_refused(run):
    write_sealed(run.folder / "plan.json", {"units": [["../../secret", "model", "config", [1]]]})
    with pytest.raises(ValueError, match=r"`name` must be letters, .* got '\.\./\.\./secret'"):
        run.table("margins")


@pytest.mark.parametrize("content", [b"{}", b"", b'{"units": 3}'])
def test_a_changed_plan_is_refused_and_made_anew(run, content):
    before = toy.held(run)
    (run.folder / "plan.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"`folder` must hold its plan; got a changed .*plan\.json\. Run the same"):
        run.table("margins")
    assert toy.held(toy.carried(run.folder)) == before


@pytest.mark.parametrize(
    "table",
    [pyarrow.table({"ids": [1]}), pyarrow.table({"id": ["a"]}), pyarrow.table({"id": [1]}, metadata={"norm": "ℓ∞"})],
    ids=["name", "kind", "meaning"],
)
def test_parts_that_do_not_fit_together_are_refused_by_name(tmp_path, table):
    first, second = units = toy.plan(2)
    tables = {first: pyarrow.table({"id": [1]}, metadata={"norm": "ℓ2"}), second: table}
    run = carry_out(open_run(tmp_path / "run", {}), units, lambda unit: Part({"margins": tables[unit]}))
    with pytest.raises(ValueError, match="`name` must be a table whose parts have the same columns; got") as caught:
        run.table("margins")
    assert str(caught.value).endswith(f"got others in {second}.")


def test_a_hundred_thousand_rows_are_read_in_under_a_second(tmp_path):
    def wide(unit):
        table = toy.work(unit).tables["margins"]
        for number in range(19):
            table = table.append_column(f"more_{number}", table["distance"])
        return Part({"margins": table})

    run = carry_out(open_run(tmp_path / "run", {}), toy.plan(250, 400), wide)

    def seconds():
        start = time.process_time()
        assert read_run(run.folder).table("margins").shape == (100_000, 21)
        return time.process_time() - start

    assert min(seconds() for _ in range(3)) < 1


def test_parts_are_stored_in_a_way_that_costs_little_per_column(run):
    """Zstandard takes longer to begin than a small column takes to be read."""
    for path in (run.folder / "tables" / "margins").iterdir():
        group = ParquetFile(path).metadata.row_group(0)
        assert {group.column(number).compression for number in range(2)} == {"SNAPPY"}
