"""What a run was made from, and how far it has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Literal

from separatrix.checks import require
from separatrix.runs.canonical import Plain, differences, fingerprint, plain

State = Literal["running", "interrupted", "partial", "complete"]

FORMAT = 1
_MAPPINGS = ("config", "inputs", "rows", "counts")


@dataclass(frozen=True)
class Session:
    """One call that worked on a run.

    Args:
        started: When, in universal time.
        seconds: How long by the clock on the wall; None while it goes on, and for good if it was killed.
        versions: Python and the packages that results depend on.
        hardware: Processor, cores, GPU.
    """

    started: str
    seconds: float | None
    versions: Mapping[str, str]
    hardware: Mapping[str, str | int]


@dataclass(frozen=True)
class Manifest:
    """What a run was made from, and how far it has come.

    Numbers of units and rows are those of the last time that work began or ended; ``Run.records`` says how it stands.

    Args:
        config: The settings, as JSON can say them.
        inputs: Hashes of what else the results depend on, such as weights and data.
        seeds: The seeds drawn from.
        state: ``"running"`` (or killed), ``"interrupted"`` (the same command continues), ``"partial"`` (a share of
            the plan is done, the rest is for others), ``"complete"``.
        planned: Units planned.
        done: Units done.
        recomputed: Units computed anew because a part of theirs was lost or changed.
        rows: Rows by table.
        counts: What units have counted, added up.
        created: When the run was opened first, in universal time.
        updated: When this was written.
        sessions: The calls that worked on it.
    """

    config: Mapping[str, Any]
    inputs: Mapping[str, str]
    seeds: tuple[int, ...]
    state: State = "running"
    planned: int = 0
    done: int = 0
    recomputed: int = 0
    rows: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, float] = field(default_factory=dict)
    created: str = ""
    updated: str = ""
    sessions: tuple[Session, ...] = ()

    @property
    def config_hash(self) -> str:
        """SHA-256 of the settings' one text."""
        return fingerprint(self.config)

    @property
    def seconds(self) -> float:
        """Time by the clock on the wall, over the calls that came to an end; killed ones could not say."""
        return sum(session.seconds or 0.0 for session in self.sessions)


def to_json(manifest: Manifest) -> dict[str, Any]:
    """The manifest as JSON can say it, what is derived from it included."""
    plainly = {entry.name: getattr(manifest, entry.name) for entry in fields(Manifest)}
    mappings = {name: dict(plainly[name]) for name in _MAPPINGS}
    derived = {"config_hash": manifest.config_hash, "seconds": manifest.seconds}
    sessions = [asdict(session) for session in manifest.sessions]
    return {"format": FORMAT, **plainly, **mappings, **derived, "sessions": sessions}


def from_json(content: Mapping[str, Any]) -> Manifest | None:
    """The manifest that ``to_json`` gave; None where it gave none such."""
    try:
        known = {entry.name: content[entry.name] for entry in fields(Manifest)}
        sessions = tuple(Session(**session) for session in content["sessions"])
        return Manifest(**{**known, "seeds": tuple(content["seeds"]), "sessions": sessions})
    except (KeyError, TypeError):
        return None


def require_same(before: Manifest, after: Manifest, folder: object) -> None:
    """Refuse to mix results of other settings, inputs or seeds with a run's own; the difference is shown."""
    for name, verb in (("config", "that"), ("inputs", "those"), ("seeds", "those")):
        changed = "; ".join(differences(_group(before, name), _group(after, name)))
        require(not changed, name, f"be {verb} of the run in {folder}", changed, "Use another folder.")


def now() -> str:
    """Universal time, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _group(manifest: Manifest, name: str) -> Plain:
    value = plain(getattr(manifest, name), name)
    return value if isinstance(value, dict) else {name: value}
