"""Units have names of their own, and what they leave comes back as it was."""

from dataclasses import replace

import pyarrow
import pytest
import torch

from separatrix.runs import Part, Unit
from separatrix.runs.files import read_sealed, write_sealed
from separatrix.runs.parts import Record, as_table, as_tensors, content, keep, recorded, standing

UNIT = Unit("margins", "model", "config", (3, 1, 2))


def kept(folder, part):
    return keep(folder, UNIT, part, 0.5)


def test_keys_depend_on_all_that_a_unit_is_and_on_nothing_else():
    others = [
        replace(UNIT, name="curvature"),
        replace(UNIT, model="other"),
        replace(UNIT, config="other"),
        replace(UNIT, ids=(1, 2, 3)),
        replace(UNIT, ids=()),
        replace(UNIT, model="modelconfig", config=""),
    ]
    assert len({unit.key for unit in [UNIT, *others]}) == 7
    assert replace(UNIT).key == UNIT.key == "9afb2740d69eb37b"


def test_a_unit_says_what_it_is():
    assert str(UNIT) == f"margins of samples 3 … 2 ({UNIT.key})"
    assert str(replace(UNIT, ids=())).startswith("margins (")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "../margins"}, r"`name` must be letters, digits, hyphens and underscores; got '\.\./margins'"),
        ({"name": ""}, "`name` must be letters, .* got ''"),
        ({"model": 3}, "`model` must be a hash, as text; got 3"),
        ({"config": None}, "`config` must be a hash, as text; got None"),
        ({"ids": [1, 2]}, r"`ids` must be a tuple of whole numbers; got \[1, 2\]\. Use `tuple\(ids\.tolist\(\)\)`"),
        ({"ids": torch.arange(2)}, r"`ids` must be a tuple of whole numbers; got a tensor of shape \(2,\)"),
        ({"ids": (1, True)}, "`ids` must be a tuple of whole numbers"),
    ],
)
def test_what_is_no_unit_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(UNIT, **change)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"tables": {"a/b": pyarrow.table({})}}, "`tables` must be letters, .* got 'a/b'"),
        ({"tensors": {"..": {}}}, r"`tensors` must be letters, .* got '\.\.'"),
        ({"tensors": {"a": {"b": torch.tensor(1.0)}}}, r"`tensors\['a'\]` must be batch first; got no axis in b"),
    ],
)
def test_what_cannot_be_stored_is_refused(part, message):
    with pytest.raises(ValueError, match=message):
        Part(**part)


def test_a_table_of_another_kind_is_refused_when_it_is_stored(tmp_path):
    with pytest.raises(ValueError, match=r"`tables\['margins'\]` must be a pyarrow table; got \[1, 2\]"):
        kept(tmp_path, Part({"margins": [1, 2]}))


TABLES = {
    "metadata": pyarrow.table(
        {"distance": [0.5]},
        schema=pyarrow.schema([pyarrow.field("distance", "f4", metadata={"unit": "ℓ∞ / 255"})], metadata={"a": "b"}),
    ),
    "kinds": pyarrow.table(
        {
            "number": [1, None],
            "text": ["é", None],
            "flag": [True, None],
            "time": [0.0, float("inf")],
        }
    ),
    "categories": pyarrow.table({"class": pyarrow.array(["a", "b", "a"]).dictionary_encode()}),
    "no rows": pyarrow.table({"id": pyarrow.array([], "i8")}),
    "no columns": pyarrow.table({}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_come_back_as_they_were(tmp_path, kind):
    table = TABLES[kind]
    record = kept(tmp_path, Part({"rows": table}))
    back = as_table(content(tmp_path, record, "tables/rows"))
    assert back.equals(table, check_metadata=True)
    assert record.rows == {"rows": table.num_rows}


def test_bytes_do_not_tell_how_a_table_was_put_together(tmp_path):
    pieces = [pyarrow.array(classes).dictionary_encode() for classes in (["a", "b"], ["b", "c"])]
    table = pyarrow.table({"class": pyarrow.chunked_array(pieces)})
    whole = pyarrow.table({"class": pyarrow.array(["a", "b", "b", "c"]).dictionary_encode()})
    assert table["class"].num_chunks == 2
    assert kept(tmp_path / "a", Part({"rows": table})).files == kept(tmp_path / "b", Part({"rows": whole})).files


def test_tensors_come_back_as_they_were(tmp_path):
    base = torch.arange(12.0).reshape(3, 4)
    tensors = {
        "turned": base.T,
        "first": base[:1],
        "same": base,
        "half": base.half(),
        "whole": torch.arange(3),
        "learnt": base.clone().requires_grad_(),
        "none": base[:0],
    }
    record = kept(tmp_path, Part(tensors={"all": tensors}))
    back = as_tensors(content(tmp_path, record, "tensors/all"))
    assert back.keys() == tensors.keys()
    assert all(torch.equal(back[name], tensor) for name, tensor in tensors.items())
    assert all(back[name].dtype == tensor.dtype for name, tensor in tensors.items())


def test_a_unit_stands_when_its_record_and_all_its_files_do(tmp_path):
    assert standing(tmp_path, UNIT) is None
    record = kept(tmp_path, Part({"a": pyarrow.table({"x": [1]}), "b": pyarrow.table({"x": [2]})}, {}, {"steps": 3}))
    assert standing(tmp_path, UNIT) == record
    (tmp_path / "tables" / "b" / f"{UNIT.key}.parquet").unlink()
    assert standing(tmp_path, UNIT) is None
    assert recorded(tmp_path, UNIT) == record


def test_a_unit_may_leave_counts_alone(tmp_path):
    record = kept(tmp_path, Part(counts={"steps": 3}))
    assert standing(tmp_path, UNIT) == record
    assert (record.files, record.counts, record.seconds) == ({}, {"steps": 3}, 0.5)


@pytest.mark.parametrize("file", ["tables/../../../secret", "/etc/passwd", "tables/", "pictures/cat", "tables"])
def test_a_record_that_leads_out_of_its_run_counts_for_nothing(tmp_path, file):
    entries = {"unit": UNIT.key, "name": "margins", "rows": {}, "counts": {}, "seconds": 1}
    write_sealed(tmp_path / "units" / f"{UNIT.key}.json", {**entries, "files": {}})
    assert standing(tmp_path, UNIT) is not None
    write_sealed(tmp_path / "units" / f"{UNIT.key}.json", {**entries, "files": {file: "0" * 64}})
    assert standing(tmp_path, UNIT) is None


@pytest.mark.parametrize("name", ["../../../../secret", "/etc/passwd", "", "0" * 16, UNIT.key.upper(), None])
def test_a_record_of_another_unit_counts_for_nothing(tmp_path, name):
    kept(tmp_path, Part({"rows": pyarrow.table({"x": [1]})}))
    path = tmp_path / "units" / f"{UNIT.key}.json"
    write_sealed(path, {**read_sealed(path), "unit": name})
    assert recorded(tmp_path, UNIT) is None
    assert standing(tmp_path, UNIT) is None


@pytest.mark.parametrize("name", ["../secret", "", "0" * 15, "0" * 17, "A" * 16, 7])
def test_a_record_names_a_unit_by_its_key(name):
    with pytest.raises(ValueError, match="`unit` must be sixteen hexadecimal digits; got "):
        Record(name, "margins", {}, {}, {}, 0.0)
