"""Weights on disk: tensors by name, and nothing that could run."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from separatrix.checks import require, require_count
from separatrix.classifier import Classifier
from separatrix.models.fingerprint import digest
from separatrix.runs import files

SHARD_BYTES = 15_000_000

State = dict[str, Tensor]
"""A module's parameters and buffers by name."""

_SHARD = re.compile(r"(?P<stem>.+)-(?P<part>\d{5})-of-(?P<parts>\d{5})")
_NESTS = ("state_dict", "model_state_dict", "model")
_PREFIXES = ("module.", "_orig_mod.")


def save_weights(
    model: nn.Module, path: str | Path, *, half: bool = False, shard_bytes: int = SHARD_BYTES
) -> tuple[Path, ...]:
    """Keep a network's weights as safetensors: one file, or shards ``<stem>-00001-of-00002.safetensors``; the files.

    What stood under the same name before is replaced. The normalisation of a ``Classifier`` is not in the file: it
    belongs in the card beside it.

    Args:
        model: A network, or a ``Classifier``, whose network is kept.
        path: ``<stem>.safetensors``, also where shards are written.
        half: Round to half precision, 11 significant bits; ``load_weights`` returns to float32.
        shard_bytes: Most bytes of tensors in one file, unless a single tensor has more.
    """
    path = Path(path)
    require(path.suffix == ".safetensors", "path", "end in .safetensors", path)
    require_count(shard_bytes, "shard_bytes")
    shards = _shards(_kept(network_of(model), half), shard_bytes)
    names = [path] if len(shards) == 1 else _shard_names(path, len(shards))
    _write(dict(zip(names, shards, strict=True)))
    for stale in {path, *_shard_files(path)} - set(names):
        stale.unlink(missing_ok=True)
    return tuple(names)


def load_weights(model: nn.Module, path: str | Path) -> None:
    """Put weights from a file into a network, which must have exactly those parameters and buffers, all finite.

    Args:
        model: A network, or a ``Classifier``, whose network is filled; its mode and ``requires_grad`` stay.
        path: As for ``read_weights``.
    """
    network = network_of(model)
    state = _without_prefix(read_weights(path), set(network.state_dict()))
    _require_fit(state, network.state_dict(), path)
    _require_finite(state, path)
    network.load_state_dict(state)


def read_weights(path: str | Path) -> State:
    """The tensors in a file by name, on the CPU, with float32 for half precision.

    Args:
        path: Safetensors, whole or in shards (the name without ``-00001-of-…``, or any shard's); or what
            ``torch.save(model.state_dict(), path)`` wrote. A file that would have to run code is refused.
    """
    parts = weight_files(Path(path))
    pickled = parts[0].suffix != ".safetensors"
    tensors = _read_pickle(parts[0]) if pickled else _read_safetensors(parts)
    return {name: _full(tensor) for name, tensor in tensors.items()}


def weight_files(path: Path) -> list[Path]:
    """The file at ``path``, or all shards of that name; it is an error if any is missing."""
    path = base_name(path)
    shards = _shard_files(path)
    if path.exists() or not shards:
        if not path.is_file():
            raise FileNotFoundError(f"No weights at {path}.")
        return [path]
    parts = sorted({_SHARD.fullmatch(shard.stem)["parts"] for shard in shards})  # type: ignore[index]
    wanted = _shard_names(path, int(parts[0]))
    missing = [shard.name for shard in wanted if shard not in shards]
    require(len(parts) == 1, "path", "have shards of one kind", f"shards of {' and of '.join(parts)} of {path.name}")
    require(not missing, "path", "have all its shards", f"{path} without {', '.join(missing)}")
    return wanted


def base_name(path: Path) -> Path:
    """The name that a shard's file shares with its siblings; any other path as it is."""
    shard = _SHARD.fullmatch(path.stem)
    return path.with_stem(shard["stem"]) if shard else path


def network_of(model: nn.Module) -> nn.Module:
    """The network inside a classifier; any other module itself."""
    return model.module if isinstance(model, Classifier) else model


def _kept(network: nn.Module, half: bool) -> State:
    state = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in network.state_dict().items()}
    if not half:
        return state
    rounded = {name: tensor.half() if tensor.is_floating_point() else tensor for name, tensor in state.items()}
    lost = [name for name in state if bool((state[name].isfinite() & ~rounded[name].isfinite()).any())]
    require(not lost, "half", "be False for weights above 65504", f"such weights in {_few(lost)}")
    return rounded


def _full(tensor: Tensor) -> Tensor:
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def _shards(state: State, most: int) -> list[State]:
    """The tensors in order, a new part begun whenever one would exceed ``most`` bytes."""
    parts: list[State] = [{}]
    size = 0
    for name, tensor in state.items():
        size += tensor.nbytes
        if size > most and parts[-1]:
            parts.append({})
            size = tensor.nbytes
        parts[-1][name] = tensor
    return parts


def _shard_names(path: Path, count: int) -> list[Path]:
    return [path.with_stem(f"{path.stem}-{part:05}-of-{count:05}") for part in range(1, count + 1)]


def _shard_files(path: Path) -> list[Path]:
    found = path.parent.glob(f"*{path.suffix}") if path.parent.is_dir() else ()
    matches = [(file, _SHARD.fullmatch(file.stem)) for file in found]
    return [file for file, match in matches if match is not None and match["stem"] == path.stem]


def _write(shards: Mapping[Path, State]) -> None:
    """Each shard tells which whole it belongs to: an interrupted save can leave old shards beside new ones."""
    from safetensors.torch import save

    whole = digest(tensor for shard in shards.values() for tensor in shard.items())
    for path, shard in shards.items():
        files.write(path, save(shard, {"whole": whole}))


def _read_safetensors(paths: Sequence[Path]) -> State:
    from safetensors import SafetensorError, safe_open

    tensors: State = {}
    wholes = set()
    for path in paths:
        try:
            with safe_open(path, framework="pt") as file:
                wholes.add((file.metadata() or {}).get("whole"))
                tensors |= {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except SafetensorError as error:
            raise ValueError(f"`path` must be a whole safetensors file; got {path}: {error}.") from error
    require(len(wholes) == 1, "path", "have shards of one save", f"a mixture in {paths[0]} and its siblings")
    return tensors


def _read_pickle(path: Path) -> State:
    """A state dict, read by an unpickler that makes tensors and containers alone."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # on bytes that are no pickle, the unpickler raises whatever they lead it to
        fix = "Save a state_dict: `torch.save(model.state_dict(), path)`."
        raise ValueError(f"`path` must be a whole file of tensors by name, without code; got {path}. {fix}") from error
    return _state_in(content, path)


def _state_in(content: object, path: Path) -> State:
    for nest in _NESTS:
        if isinstance(content, Mapping) and isinstance(content.get(nest), Mapping):
            content = content[nest]
    entries = dict(content) if isinstance(content, Mapping) else {}
    named = len(entries) > 0 and all(isinstance(entry, Tensor) for entry in entries.values())
    require(named, "path", "hold a state_dict, tensors by name", f"something else in {path}")
    return {str(name): tensor for name, tensor in entries.items()}


def _without_prefix(state: State, wanted: set[str]) -> State:
    """The state as the bare network names it, when it was saved from inside a wrapper such as DataParallel."""
    for prefix in _PREFIXES:
        if set(state) != wanted and all(name.startswith(prefix) for name in state):
            return _without_prefix({name.removeprefix(prefix): tensor for name, tensor in state.items()}, wanted)
    return state


def _require_fit(state: State, wanted: Mapping[str, Tensor], path: str | Path) -> None:
    missing = [name for name in wanted if name not in state]
    unexpected = [name for name in state if name not in wanted]
    both = [name for name in state if name in wanted]
    other = [
        f"{name} of shape {tuple(state[name].shape)} for {tuple(wanted[name].shape)}"
        for name in both
        if state[name].shape != wanted[name].shape
    ]
    kinds = (("missing", missing), ("unexpected", unexpected), ("", other))
    faults = [f"{kind} {_few(names)}".strip() for kind, names in kinds if names]
    require(not faults, "path", "hold the weights of this network", f"{path}: {'; '.join(faults)}")


def _require_finite(state: State, path: str | Path) -> None:
    broken = [name for name, tensor in state.items() if not bool(tensor.isfinite().all())]
    require(not broken, "path", "hold finite weights", f"NaN or inf in {_few(broken)} of {path}")


def _few(names: Sequence[str], most: int = 3) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
