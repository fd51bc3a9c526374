"""Models by name, ready to be measured: ``load_model``."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from torch import Tensor, nn

from separatrix.checks import require
from separatrix.classifier import Classifier
from separatrix.models import foreign
from separatrix.models.card import Card, require_recorded
from separatrix.models.weights import load_weights
from separatrix.models.zoo import ZOO
from separatrix.models.zoo.seeds import seeded

_FORMS = (
    "'zoo:<architecture>@<weights>', 'timm:<name>', 'torchvision:<name>', 'hf:<organisation>/<name>' "
    "or '<package.module>:<factory>'"
)
_FOREIGN: dict[str, Callable[[str, bool, bool], Classifier]] = {
    "timm": foreign.timm,
    "torchvision": foreign.torchvision,
    "hf": foreign.hugging_face,
}


def load_model(
    spec: str,
    *,
    mean: float | Sequence[float] | Tensor | None = None,
    std: float | Sequence[float] | Tensor | None = None,
    bounds: tuple[float, float] | None = None,
    pretrained: bool = True,
) -> Classifier:
    """A model that takes inputs in the units of the data, in eval mode, on the CPU unless a factory puts it elsewhere.

    - ``"zoo:lenet@weights/lenet.safetensors"``: a network of ``separatrix.models.ZOO``, its weights from a file. Its
      form and normalisation are read from ``weights/lenet.json``, which may also say what the file hashes to; without
      it, it is in native form and not normalised.
    - ``"timm:resnet18"``, ``"torchvision:resnet50@IMAGENET1K_V1"``, ``"hf:organisation/name"``: a model of another
      library, with the normalisation it was trained with, for pixels in [0, 1].
    - ``"package.module:factory"``: what ``factory()`` returns, a ``Classifier`` or a module. Modules of the current
      folder can be named.

    Args:
        spec: Where the model comes from.
        mean: Subtracted from the input, instead of what comes with the model: one number, or one a channel.
        std: Divides the centred input, likewise.
        bounds: Least and greatest value of an input, likewise.
        pretrained: Whether to load weights; otherwise they are random, the same every time. Of a network of the zoo,
            give no file then. A factory decides by itself.
    """
    kind, colon, name = spec.partition(":") if isinstance(spec, str) else ("", "", "")
    require(bool(kind and colon and name), "spec", f"be {_FORMS}", repr(spec))
    with seeded(0):
        if kind in _FOREIGN:
            model = _FOREIGN[kind](name, pretrained, mean is None or std is None)
        else:
            model = _zoo(name, pretrained) if kind == "zoo" else _made(kind, name, pretrained)
    return _in_units(model, mean, std, bounds).eval()


def _zoo(name: str, pretrained: bool) -> Classifier:
    architecture, _, weights = name.partition("@")
    require(architecture in ZOO, "spec", f"be 'zoo:' and one of {', '.join(ZOO)}", repr(f"zoo:{name}"))
    if not pretrained:
        require(not weights, "spec", "name no weights when `pretrained` is False", repr(f"zoo:{name}"))
        return Card(architecture).classifier()
    fix = "For random weights: `pretrained=False`."
    require(bool(weights), "spec", "name weights, 'zoo:<architecture>@<weights>'", repr(f"zoo:{name}"), fix)
    path = Path(weights).expanduser()
    model = Card.beside(path, architecture).classifier()
    require_recorded(path)
    load_weights(model, path)
    return model


def _made(module: str, name: str, pretrained: bool) -> Classifier:
    spec = f"{module}:{name}"
    dotted = re.fullmatch(r"\w+(\.\w+)*:\w+(\.\w+)*", spec) is not None
    require(dotted, "spec", f"be {_FORMS}", repr(spec))
    require(pretrained, "pretrained", "be True for a factory, which decides by itself", pretrained)
    with _current_folder():
        factory = _found(module, name)
        require(callable(factory), "spec", "name something to call", f"{spec}, {type(factory).__name__}")
        made = factory()  # type: ignore[operator]
    kind = type(made).__name__
    require(isinstance(made, nn.Module), "spec", "name a factory of a torch.nn.Module", f"{kind} from {spec}")
    return made if isinstance(made, Classifier) else Classifier(made)


def _found(module: str, name: str) -> object:
    try:
        found: object = import_module(module)
    except ModuleNotFoundError as error:
        absent = error.name is not None and f"{module}.".startswith(f"{error.name}.")
        if not absent:
            raise
        raise ValueError(f"`spec` must be {_FORMS}; got {f'{module}:{name}'!r}: no module {error.name}.") from error
    for part in name.split("."):
        require(hasattr(found, part), "spec", f"name something in {module}", f"{module}:{name}")
        found = getattr(found, part)
    return found


@contextmanager
def _current_folder() -> Iterator[None]:
    """Modules of the current folder can be imported, as when Python runs there."""
    before = list(sys.path)
    sys.path.insert(0, str(Path.cwd()))
    try:
        yield
    finally:
        sys.path[:] = before


def _in_units(
    model: Classifier,
    mean: float | Sequence[float] | Tensor | None,
    std: float | Sequence[float] | Tensor | None,
    bounds: tuple[float, float] | None,
) -> Classifier:
    """The model with another normalisation where one is given."""
    if mean is None and std is None and bounds is None:
        return model
    return Classifier(
        model.module,
        model.mean if mean is None else mean,
        model.std if std is None else std,
        model.bounds if bounds is None else bounds,
        model.logits,
    )
