"""Weights survive a save and a load; whatever is not this network's weights is refused in one line."""

import pickle
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn
from torch.testing import assert_close

from separatrix import Classifier
from separatrix.models import ZOO, load_weights, network, read_weights, save_weights
from separatrix.runs import files

SHARD = 12_000  # bytes, of which `small` has two shards


def small(seed=0):
    """A convolution, a batch normalisation that has seen data, and a linear layer."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(8 * 36, 10))
    model(torch.rand(16, 1, 8, 8))
    return model.eval()


def same(model, other):
    state, expected = model.state_dict(), other.state_dict()
    return list(state) == list(expected) and all(torch.equal(state[name], expected[name]) for name in state)


def filled(path):
    model = small(seed=1)
    load_weights(model, path)
    return model


@pytest.fixture
def model():
    return small()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "net.safetensors"


@pytest.mark.parametrize("shard_bytes", [SHARD, 10**9])
def test_a_load_restores_what_was_saved(model, path, shard_bytes):
    save_weights(model, path, shard_bytes=shard_bytes)
    assert same(filled(path), model)


@pytest.mark.parametrize("name", [name for name in ZOO if ZOO[name].parameters < 1e6])
def test_half_precision_keeps_eleven_bits_of_every_network(name, tmp_path):
    model = network(name)
    written = save_weights(model, tmp_path / "net.safetensors", half=True, shard_bytes=100_000)
    other = network(name, seed=1)
    load_weights(other, written[0])
    assert len(written) > 1
    for key, tensor in other.state_dict().items():
        assert tensor.dtype == model.state_dict()[key].dtype
        assert_close(tensor, model.state_dict()[key], rtol=2**-11, atol=2**-25)


def test_half_precision_halves_the_file(model, path):
    (full,) = save_weights(model, path)
    size = full.stat().st_size
    (half,) = save_weights(model, path, half=True)
    assert 0.4 * size < half.stat().st_size < 0.6 * size
    assert {tensor.dtype for tensor in read_weights(path).values()} == {torch.float32, torch.int64}


def test_counts_stay_whole_numbers(model, path):
    save_weights(model, path, half=True)
    assert filled(path)[1].num_batches_tracked == 1


def test_shards_are_small_and_named_by_their_place(model, path):
    written = save_weights(model, path, shard_bytes=SHARD)
    assert [file.name for file in written] == ["net-00001-of-00002.safetensors", "net-00002-of-00002.safetensors"]
    assert all(file.stat().st_size < SHARD + 2_000 for file in written)
    assert save_weights(model, path, half=True, shard_bytes=SHARD) == (path,)


def test_a_tensor_larger_than_a_shard_has_one_of_its_own(model, path):
    written = save_weights(model, path, shard_bytes=1)
    with safe_open(written[-2], framework="pt") as shard:
        assert list(shard.keys()) == ["3.weight"]
    assert same(filled(path), model)


def test_any_shards_name_stands_for_all(model, path):
    for shard in save_weights(model, path, shard_bytes=SHARD):
        assert same(filled(shard), model)


@pytest.mark.parametrize(("before", "after"), [(SHARD, 10**9), (10**9, SHARD), (1, SHARD)])
def test_a_save_replaces_what_stood_under_the_name(model, path, before, after):
    save_weights(small(seed=2), path, shard_bytes=before)
    bystander = path.with_name("net-2.safetensors")
    bystander.touch()
    written = save_weights(model, path, shard_bytes=after)
    assert sorted(path.parent.iterdir()) == sorted([*written, bystander])
    assert same(filled(path), model)


def test_an_interrupted_save_is_never_a_mixture(model, path, monkeypatch):
    old = small(seed=2)
    strikes = {"left": 0}

    def strike(stage, target):
        strikes["left"] -= 1
        if strikes["left"] < 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(files, "reached", strike)
    answers = []
    for point in range(8):
        strikes["left"] = 10**6
        save_weights(old, path, shard_bytes=SHARD)
        strikes["left"] = point
        with pytest.raises(KeyboardInterrupt):
            save_weights(model, path, shard_bytes=SHARD)
        answers.append(held(path, old=old, new=model))
    assert answers == ["old"] * 3 + ["refused"] * 4 + ["new"]


def held(path, **networks):
    """Which network the files hold, if any one."""
    try:
        found = filled(path)
    except ValueError as error:
        return "refused" if "must have shards of one save; got a mixture" in str(error) else str(error)
    return next((name for name, network in networks.items() if same(found, network)), "neither")


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_missing_shard_is_named(model, path, lost):
    written = save_weights(model, path, shard_bytes=2_000)
    written[lost].unlink()
    with pytest.raises(ValueError, match=rf"must have all its shards; got .* without {written[lost].name}"):
        load_weights(model, path)


def test_shards_of_two_saves_are_refused(model, path):
    first, *_ = save_weights(model, path, shard_bytes=SHARD)
    content = first.read_bytes()
    save_weights(model, path, shard_bytes=1)
    first.write_bytes(content)
    with pytest.raises(ValueError, match="must have shards of one kind; got shards of 00002 and of"):
        load_weights(model, path)


def test_classifiers_are_saved_and_filled_without_their_wrapping(model, path):
    save_weights(Classifier(model, mean=0.5, std=0.2), path)
    other = Classifier(small(seed=1))
    load_weights(other, path)
    assert same(other.module, model)
    assert other.mean is None


def test_a_load_changes_values_and_nothing_else(model, path):
    save_weights(model, path)
    other = small(seed=1).train()
    other[0].weight.requires_grad_(False)
    load_weights(other, path)
    assert other.training
    assert [p.requires_grad for p in other.parameters()] == [False] + [True] * 5


def test_a_double_network_is_filled_in_double_precision(model, path):
    save_weights(model, path)
    other = small(seed=1).double()
    load_weights(other, path)
    assert_close(other[3].weight, model[3].weight.double(), rtol=0, atol=0)


@pytest.mark.parametrize("nest", [None, "state_dict", "model_state_dict", "model"])
@pytest.mark.parametrize("prefix", ["", "module.", "_orig_mod.", "module._orig_mod."])
@pytest.mark.parametrize("suffix", [".pt", ".pth"])
def test_state_dicts_of_torch_are_read_however_wrapped(model, tmp_path, nest, prefix, suffix):
    state = {prefix + name: tensor for name, tensor in model.state_dict().items()}
    torch.save({nest: state, "epoch": 3} if nest else state, tmp_path / f"net{suffix}")
    assert same(filled(tmp_path / f"net{suffix}"), model)


def test_prefixes_that_the_network_has_stay(tmp_path):
    model = nn.ModuleDict({"module": nn.Linear(2, 2)})
    torch.save(model.state_dict(), tmp_path / "net.pt")
    load_weights(model, tmp_path / "net.pt")


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def test_code_in_a_file_is_refused_and_never_runs(model, tmp_path):
    mark = tmp_path / "ran"
    torch.save({"0.weight": Trap(mark)}, tmp_path / "trap.pt")
    (tmp_path / "bare.pt").write_bytes(pickle.dumps(Trap(mark)))
    torch.save(model, tmp_path / "whole.pt")
    for name in ("trap", "bare", "whole"):
        message = r"`path` must be a whole file of tensors by name, without code; got .*\. Save a state_dict: `torch"
        with pytest.raises(ValueError, match=message) as refusal:
            load_weights(model, tmp_path / f"{name}.pt")
        assert "\n" not in str(refusal.value)
    assert not mark.exists()


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_scripts_are_refused_as_code(model, tmp_path):
    torch.jit.trace(model, torch.rand(1, 1, 8, 8)).save(tmp_path / "net.pt")
    with pytest.raises(ValueError, match="without code"):
        load_weights(model, tmp_path / "net.pt")


@pytest.mark.parametrize("spoil", [lambda content: content[: len(content) // 2], lambda content: b"weights " * 50])
@pytest.mark.parametrize("name", ["net.pt", "net.safetensors"])
def test_broken_files_are_refused(model, tmp_path, name, spoil):
    path = tmp_path / name
    (save_file if path.suffix == ".safetensors" else torch.save)(model.state_dict(), path)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(ValueError, match=rf"`path` must be a whole .*; got {path}") as refusal:
        load_weights(model, path)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("content", [{}, {"epoch": 3}, [1, 2], {"state_dict": {"a": 1}}])
def test_files_without_weights_are_refused(model, tmp_path, content):
    torch.save(content, tmp_path / "net.pt")
    with pytest.raises(ValueError, match="`path` must hold a state_dict, tensors by name; got something else in"):
        load_weights(model, tmp_path / "net.pt")


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        (lambda state: state.pop("0.weight"), "missing 0.weight"),
        (lambda state: state.update(extra=torch.zeros(1)), "unexpected extra"),
        (lambda state: state.update({"3.bias": torch.zeros(7)}), r"3.bias of shape \(7,\) for \(10,\)"),
        (lambda state: [state.pop(name) for name in list(state)[:5]], "missing 0.weight, 0.bias, 1.weight and 2 more"),
    ],
)
def test_weights_of_another_network_are_refused(model, tmp_path, change, faults):
    state = dict(model.state_dict())
    change(state)
    save_file(state, tmp_path / "net.safetensors")
    message = f"`path` must hold the weights of this network; got .*net.safetensors: {faults}"
    with pytest.raises(ValueError, match=message) as refusal:
        load_weights(model, tmp_path / "net.safetensors")
    assert "\n" not in str(refusal.value)


def test_a_refused_load_changes_nothing(model, path):
    save_weights(network("lenet"), path)
    before = small()
    with pytest.raises(ValueError, match="weights of this network"):
        load_weights(model, path)
    assert same(model, before)


def test_an_absent_file_is_named(model, path):
    with pytest.raises(FileNotFoundError, match=rf"No weights at {path}"):
        load_weights(model, path)
    with pytest.raises(FileNotFoundError, match="No weights at"):
        load_weights(model, path.parent / "no" / "such.safetensors")


def test_weights_too_large_for_half_precision_are_refused(model, path):
    with torch.no_grad():
        model[3].bias[2] = 1e5
    with pytest.raises(ValueError, match=r"`half` must be False for weights above 65504; got such weights in 3\.bias"):
        save_weights(model, path, half=True)
    assert not path.exists()


def test_only_safetensors_are_written(model, tmp_path):
    with pytest.raises(ValueError, match=r"`path` must end in \.safetensors; got .*net\.pt"):
        save_weights(model, tmp_path / "net.pt")


def test_tied_weights_are_saved(path):
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    model[1].weight = model[0].weight
    save_weights(model, path)
    assert torch.equal(read_weights(path)["1.weight"], model[0].weight)
