"""What a training needs to go on after an interruption, on disk: written whole or not at all, and never a pickle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from separatrix.checks import require, require_count
from separatrix.runs import files
from separatrix.runs.canonical import Plain, differences, plain

_FORMAT = 1
_RECORD = "checkpoint.json"


@dataclass(frozen=True)
class Checkpoints:
    """Where a training is kept while it is on its way, and how often.

    Args:
        folder: Holds the latest checkpoint: tensors as safetensors, the rest as JSON.
        every: Steps between checkpoints within an epoch; None for one at the end of each epoch alone.
    """

    folder: Path
    every: int | None = None

    def __post_init__(self) -> None:
        if self.every is not None:
            require_count(self.every, "every")

    def due(self, step: int) -> bool:
        """Whether one is written after this many steps of an epoch."""
        return self.every is not None and step % self.every == 0

    @property
    def threads(self) -> int | None:
        """With how many threads the training here has been computed so far; None where nothing says so."""
        record = files.read_sealed(self.folder / _RECORD) or {}
        threads = record.get("threads")
        return threads if isinstance(threads, int) and threads > 0 else None

    def save(self, config: object, standing: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """Put this checkpoint in place of the last: whatever interrupts it leaves one of the two.

        Args:
            config: What is trained, on what and how; a checkpoint is of no use to another training.
            standing: How far the training is, as JSON can hold it.
            tensors: Weights, and what the optimiser knows.
        """
        from safetensors.torch import save

        place = f"{standing['epoch']:05}-{standing['step']:07}.safetensors"
        seal = files.write(self.folder / place, save(dict(tensors)))
        record = {"format": _FORMAT, "config": plain(config), "standing": standing, "tensors": place, "seal": seal}
        files.write_sealed(self.folder / _RECORD, {**record, "threads": torch.get_num_threads()}, indent=1)
        self._sweep(place)

    def load(self, config: object) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
        """The standing and the tensors of the latest checkpoint; None where there is none yet."""
        from safetensors.torch import load

        path = self.folder / _RECORD
        if not path.exists():
            return None
        record = files.read_sealed(path)
        _require_sound(record is not None and record.get("format") == _FORMAT, path)
        assert record is not None
        self._require_same(record["config"], plain(config))
        place = self.folder / record["tensors"]
        _require_sound(place.exists() and files.digest(place) == record["seal"], place)
        self._sweep(place.name)
        return record["standing"], load(place.read_bytes())

    def _sweep(self, place: str) -> None:
        files.sweep(self.folder)
        for path in self.folder.glob("[0-9]*-[0-9]*.safetensors"):
            if path.name != place:
                path.unlink(missing_ok=True)

    def _require_same(self, before: Plain, now: Plain) -> None:
        changed = "; ".join(differences(before, now))
        fix = "Give this training another folder."
        require(not changed, "checkpoints", f"be those of this training, not of another in {self.folder}", changed, fix)


def gathered(model: nn.Module, optimiser: Optimizer) -> dict[str, Tensor]:
    """Copies of all that a step of the training changes, by name."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{number}.{name}": value for name, value in state.items() if isinstance(value, Tensor)}
    return {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}


def restore(model: nn.Module, optimiser: Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put back what was gathered, each number in the place in memory where it was."""
    parts = {name.removeprefix("model."): value for name, value in tensors.items() if name.startswith("model.")}
    model.load_state_dict(parts)
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    for name, value in tensors.items():
        kind, number, *rest = name.split(".")
        if kind == "optimiser":
            parameter = parameters[int(number)]
            optimiser.state[parameter][".".join(rest)] = _laid_like(value, parameter)


def _laid_like(value: Tensor, parameter: Tensor) -> Tensor:
    """A copy on the parameter's device, in its memory format where it has its shape."""
    room = torch.empty_like(parameter if value.shape == parameter.shape else value, device=parameter.device)
    return room.copy_(value)


def _require_sound(sound: bool, path: Path) -> None:
    rule, fix = "hold a sound checkpoint", "Delete the folder to train from the start."
    require(sound, "checkpoints", rule, f"{path}, which is missing or damaged", fix)
