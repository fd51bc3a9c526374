"""What a survey is about: a model, data, and the samples chosen from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from separatrix.checks import require, require_count, require_seed
from separatrix.classifier import Classifier, device_of, logits_of
from separatrix.data import DataSet
from separatrix.models import fingerprint
from separatrix.runs.environment import versions
from separatrix.survey.question import Inputs

Maker = Callable[[], tuple[nn.Module, DataSet]]
"""Makes the model and its data anew, wherever it is called: what a worker process is given."""


@dataclass(frozen=True, eq=False)
class Handed:
    """A model and data that are at hand; a worker process gets copies."""

    model: nn.Module
    data: DataSet

    def __call__(self) -> tuple[nn.Module, DataSet]:
        """Both, as they are."""
        return self.model, self.data


def as_classifier(model: object) -> Classifier:
    """The model itself, or a ``Classifier`` around a module that is none."""
    require(isinstance(model, nn.Module), "model", "be a torch.nn.Module", type(model).__name__)
    assert isinstance(model, nn.Module)
    return model if isinstance(model, Classifier) else Classifier(model)


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, data, and the samples of them that a survey asks about.

    Args:
        model: What is measured.
        data: Where the samples come from; their true labels.
        name: What the model is called.
        samples: How many samples are asked about; all there are, where there are no more.
        seed: Of the choice of samples, and of whatever else is random in the survey.
    """

    model: Classifier
    data: DataSet
    name: str
    samples: int
    seed: int = 0

    def __post_init__(self) -> None:
        rule, fix = "be a data set with labels", "Load it: `load_data(…, split=…)`."
        require(isinstance(self.data, DataSet), "data", rule, type(self.data).__name__, fix)
        require_count(self.samples, "samples")
        require_seed(self.seed)
        greatest = int(self.data.labels.max())
        rule = f"have labels below {self.classes}, the number of the model's classes"
        require(greatest < self.classes, "data", rule, f"label {greatest}", "Is it the data of this model?")

    @cached_property
    def ids(self) -> Tensor:
        """The samples asked about, drawn by chance, in the order in which they are asked about."""
        order = torch.randperm(len(self.data), generator=torch.Generator().manual_seed(self.seed))
        return self.data.ids[order[: self.samples]]

    @cached_property
    def inputs(self) -> Inputs:
        """What is known before anything is asked."""
        return Inputs(self.data.shape, self.classes)

    @cached_property
    def classes(self) -> int:
        """How many classes the model tells apart; those of the data, where it does not answer."""
        try:
            with torch.no_grad():
                return logits_of(self.model, self._probe).shape[1]
        except Exception:  # the audit says what is wrong with it
            return len(self.data.classes)

    @cached_property
    def differentiable(self) -> bool:
        """Whether logits can be differentiated by the input; true of a model that does not answer at all."""
        try:
            with torch.enable_grad():
                return logits_of(self.model, self._probe.requires_grad_().clone()).requires_grad
        except Exception:  # the audit says what is wrong with it
            return True

    @property
    def _probe(self) -> Tensor:
        return self.points(self.data.ids[:2].tolist())

    @cached_property
    def hashes(self) -> dict[str, str]:
        """What tells whether results can be continued."""
        return {"model": fingerprint(self.model), "data": self.data.fingerprint}

    @property
    def config(self) -> dict[str, object]:
        """What the manifest of a run says of it."""
        named = self.data.classes if len(self.data.classes) == self.classes else range(self.classes)
        parameters = sum(parameter.numel() for parameter in self.model.parameters())
        bounds = self.model.bounds
        return {
            "survey": 1,
            "version": versions()["separatrix"],
            "model": {"name": self.name, "parameters": parameters},
            "data": {"name": self.data.name, "samples": len(self.data)},
            "samples": len(self.ids),
            "seed": self.seed,
            "shape": list(self.data.shape),
            "classes": [str(name) for name in named],
            "bounds": None if bounds is None else [float(bound) for bound in bounds],
        }

    def at(self, ids: Sequence[int]) -> DataSet:
        """The samples of these names, in this order."""
        return self.data.select(torch.tensor([self._rows[name] for name in ids]))

    def points(self, ids: Sequence[int]) -> Tensor:
        """The points of these samples, where the model is and in its precision."""
        points = self.at(ids).points
        dtypes = (weight.dtype for weight in self.model.parameters() if weight.is_floating_point())
        return points.to(device_of(self.model, points), next(dtypes, points.dtype))

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {name: row for row, name in enumerate(self.data.ids.tolist())}
