"""Units of work, and what each leaves in the folder of its run: its parts first, then the record that it is done."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from separatrix.checks import described, require
from separatrix.runs.files import digest, read_sealed, remove, write, write_sealed

if TYPE_CHECKING:
    import pyarrow

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_NAMING = "be letters, digits, hyphens and underscores"
_KEY = re.compile(r"[0-9a-f]{16}")
_SUFFIXES = {"tables": ".parquet", "tensors": ".safetensors"}


@dataclass(frozen=True)
class Unit:
    """What is computed and stored at once: one question, asked of one model at some samples.

    Its key depends on these four alone, never on the worker, the order or the time. Random numbers drawn by seed and
    sample id, and units cut by the plan, make what it leaves a function of the key.

    Args:
        name: The question, or the family of tables it fills.
        model: Hash of the model's weights.
        config: Hash of the settings.
        ids: Whole numbers that name the samples, in their order; empty for a question about the model alone.
    """

    name: str
    model: str
    config: str
    ids: tuple[int, ...]

    def __post_init__(self) -> None:
        _require_name(self.name, "name")
        for hashed in ("model", "config"):
            value = getattr(self, hashed)
            require(isinstance(value, str), hashed, "be a hash, as text", described(value))
        whole = isinstance(self.ids, tuple) and all(type(number) is int for number in self.ids)
        require(whole, "ids", "be a tuple of whole numbers", described(self.ids), "Use `tuple(ids.tolist())`.")

    @cached_property
    def key(self) -> str:
        """Sixteen hexadecimal digits that name the unit in the folder."""
        identity = json.dumps([self.name, self.model, self.config, self.ids])
        return hashlib.sha256(identity.encode()).hexdigest()[:16]

    def __str__(self) -> str:
        samples = f" of samples {self.ids[0]} … {self.ids[-1]}" if self.ids else ""
        return f"{self.name}{samples} ({self.key})"


@dataclass(frozen=True, eq=False)
class Part:
    """What one unit found out.

    Rows keep their order; put no timings and no random numbers without a seed in them, so that the same unit leaves
    the same bytes wherever it is computed.

    Args:
        tables: Rows by the name of the table they belong to; metadata of the schema and of its fields are kept.
        tensors: Named tensors ``(n, …)``, batch first, by the name of the collection they belong to.
        counts: What is to be added up over the run, such as gradients taken.
    """

    tables: Mapping[str, pyarrow.Table] = field(default_factory=dict)
    tensors: Mapping[str, Mapping[str, Tensor]] = field(default_factory=dict)
    counts: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind in _SUFFIXES:
            for name in getattr(self, kind):
                _require_name(name, kind)
        for name, tensors in self.tensors.items():
            flat = [key for key, tensor in tensors.items() if tensor.ndim == 0]
            require(not flat, f"tensors[{name!r}]", "be batch first", f"no axis in {', '.join(flat)}")


@dataclass(frozen=True)
class Record:
    """That a unit is done, and what it left.

    Args:
        unit: The unit's key.
        name: The unit's question.
        files: SHA-256 of each file, by ``tables/<name>`` or ``tensors/<name>``.
        rows: Rows by table.
        counts: What is to be added up over the run.
        seconds: What the unit took.
    """

    unit: str
    name: str
    files: Mapping[str, str]
    rows: Mapping[str, int]
    counts: Mapping[str, float]
    seconds: float

    def __post_init__(self) -> None:
        keyed = isinstance(self.unit, str) and bool(_KEY.fullmatch(self.unit))
        require(keyed, "unit", "be sixteen hexadecimal digits", repr(self.unit))
        for file in self.files:
            kind, _, name = file.partition("/")
            require(kind in _SUFFIXES, "files", f"be among {' and '.join(_SUFFIXES)}", repr(file))
            _require_name(name, "files")


def keep(folder: Path, unit: Unit, part: Part, seconds: float) -> Record:
    """Store what a unit found out: its files first, its record last."""
    files = {file: write(_place(folder, file, unit.key), content) for file, content in _contents(part).items()}
    rows = {name: table.num_rows for name, table in part.tables.items()}
    record = Record(unit.key, unit.name, files, rows, dict(part.counts), seconds)
    keep_record(folder, record)
    return record


def keep_file(folder: Path, record: Record, file: str, content: bytes) -> None:
    """Store one of the files that a record names."""
    write(_place(folder, file, record.unit), content)


def keep_record(folder: Path, record: Record) -> None:
    """Declare a unit done; all that the record names must be there by now."""
    write_sealed(_record_path(folder, record.unit), asdict(record), indent=2)


def recorded(folder: Path, unit: Unit) -> Record | None:
    """The unit's record as it stands; None where there is none of this unit. Its files are not looked at.

    A seal guards against accidents, not against malice: a record that names another unit is none of this one.
    """
    content = read_sealed(_record_path(folder, unit.key))
    try:
        record = None if content is None else Record(**content)
    except (TypeError, ValueError):
        return None
    return record if record is not None and record.unit == unit.key else None


def standing(folder: Path, unit: Unit) -> Record | None:
    """The record of a unit that is done: one whose files all have the content that was recorded; otherwise None."""
    record = recorded(folder, unit)
    return record if record and all(_sound(folder, record, file) for file in record.files) else None


def forget_broken(folder: Path, unit: Unit) -> bool:
    """Take back that a unit is done, where its record or a file that it names was lost or changed; whether it was."""
    path = _record_path(folder, unit.key)
    lost = path.exists() and standing(folder, unit) is None
    if lost:
        remove(path)
    return lost


def content(folder: Path, record: Record, file: str) -> bytes:
    """What one of a record's files holds, refused where that is not what was recorded.

    The bytes hashed are the bytes returned: checking costs a thirtieth of what reading a table from them does.
    """
    path = _place(folder, file, record.unit)
    held = path.read_bytes() if path.exists() else b""
    sound = hashlib.sha256(held).hexdigest() == record.files[file]
    state = "a changed" if path.exists() else "no"
    fix = "Run the same command again: what is lost is computed anew."
    require(sound, "folder", "hold what its units recorded", f"{state} {path}", fix)
    return held


def as_table(content: bytes) -> pyarrow.Table:
    """The rows that a unit stored."""
    import pyarrow
    from pyarrow.parquet import ParquetFile

    return ParquetFile(pyarrow.BufferReader(content)).read(use_threads=False)


def as_tensors(content: bytes) -> dict[str, Tensor]:
    """The tensors that a unit stored."""
    from safetensors.torch import load

    return load(content)


def _contents(part: Part) -> dict[str, bytes]:
    tables = {f"tables/{name}": _table_bytes(name, table) for name, table in part.tables.items()}
    return tables | {f"tensors/{name}": _tensor_bytes(tensors) for name, tensors in part.tensors.items()}


def _table_bytes(name: str, table: object) -> bytes:
    """The rows as Parquet; their chunks are joined first, since bytes would tell how they were put together.

    Parts are small: Zstandard would save them nothing, and take three times as long to read them.
    """
    import pyarrow
    from pyarrow.parquet import write_table

    require(isinstance(table, pyarrow.Table), f"tables[{name!r}]", "be a pyarrow table", described(table))
    assert isinstance(table, pyarrow.Table)
    buffer = pyarrow.BufferOutputStream()
    write_table(table.combine_chunks(), buffer, compression="snappy")
    return bytes(buffer.getvalue())


def _tensor_bytes(tensors: Mapping[str, Tensor]) -> bytes:
    """The tensors as safetensors; each a copy of its own, since views of one memory are refused there."""
    from safetensors.torch import save

    own = {name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format) for name, tensor in tensors.items()}
    return save(own)


def _place(folder: Path, file: str, key: str) -> Path:
    kind = file.partition("/")[0]
    return folder / file / f"{key}{_SUFFIXES[kind]}"


def _record_path(folder: Path, key: str) -> Path:
    return folder / "units" / f"{key}.json"


def _sound(folder: Path, record: Record, file: str) -> bool:
    path = _place(folder, file, record.unit)
    return path.exists() and digest(path) == record.files[file]


def _require_name(name: object, argument: str) -> None:
    """Refuse what is no name of a file of its own: a separator in it would lead out of the run."""
    require(isinstance(name, str) and bool(_NAME.fullmatch(name)), argument, _NAMING, repr(name))
