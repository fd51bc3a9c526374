"""Beside the answer, memory is that of one batch and of the classes looked at, however many there are."""

import pytest
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from separatrix import DeepFool, Linf, minimal_perturbation
from separatrix.subspaces import random_each
from separatrix.testing import Affine


class LiveMemory(TorchDispatchMode):
    """Bytes of all tensors made within that are alive at once, at their most."""

    def __init__(self):
        super().__init__()
        self.known, self.peak = {}, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self._note((args, kwargs), made=False)
        out = func(*args, **(kwargs or {}))
        self._note(out, made=True)
        self.peak = max(self.peak, sum(size for _, size in self.known.values()))
        return out

    def _note(self, values, made):
        """What is given counts nothing; what has gone is forgotten, as its address may come back."""
        self.known = {key: entry for key, entry in self.known.items() if not entry[0].expired()}
        for value in tree_leaves(values):
            if isinstance(value, torch.Tensor):
                storage = value.untyped_storage()
                self.known.setdefault(storage._cdata, (StorageWeakRef(storage), made * storage.nbytes()))


def answer_bytes(boundary):
    return sum(value.nbytes for value in vars(boundary).values() if isinstance(value, torch.Tensor))


def beside_the_answer(model, points, **settings):
    with LiveMemory() as memory:
        boundary = minimal_perturbation(model, points, **settings)
    return memory.peak - answer_bytes(boundary)


def task(count, classes, dimension=400):
    generator = torch.Generator().manual_seed(0)
    points = torch.randn(count, dimension, generator=generator, dtype=torch.float64)
    return Affine.random(classes, dimension, generator=generator), points


SETTINGS = {
    "l2": {},
    "linf": {"norm": Linf},
    "in a subspace each": {"subspace": random_each((400,), 6, seed=1)},
    "from several starts": {"starts": 2},
}


def test_the_ruler_sees_what_is_held():
    with LiveMemory() as memory:
        held = [torch.ones(1000, dtype=torch.float64) for _ in range(5)]
        del held
        torch.ones(1000, dtype=torch.float64).add(1)
    assert memory.peak == 5 * 8000
    with LiveMemory() as memory:
        views = torch.ones(1000, dtype=torch.float64).view(10, 100)[:5].flatten(0)
    assert memory.peak == 8000
    assert views.numel() == 500


def test_memory_beside_the_answer_does_not_grow_with_the_number_of_points(settings):
    few, many = (
        beside_the_answer(*task(count, 12), batch_size=8, method=DeepFool(candidates=3), **settings)
        for count in (16, 128)
    )
    ids_and_answers_in_hand = 64 * (128 - 16)
    assert many <= few + ids_and_answers_in_hand
    assert few > 8 * 400 * 8


def test_memory_does_grow_with_the_batch():
    small, large = (beside_the_answer(*task(128, 12), batch_size=size) for size in (8, 64))
    assert large > 6 * small


@pytest.mark.parametrize("candidates", [None, 5])
def test_memory_does_not_grow_with_the_classes_beyond_the_candidates(candidates):
    few, many = (
        beside_the_answer(*task(8, classes, 3000), method=DeepFool(candidates=candidates)) for classes in (20, 1000)
    )
    logits = 8 * (1000 - 20) * 8
    assert many <= few + 12 * logits
    gradients_of_all_classes = 8 * (1000 - 20) * 3000 * 8
    assert many - few < gradients_of_all_classes / 100


class HoldsEveryGradient(DeepFool):
    def step(self, problem, points, state):
        held = list(problem.linearise_pairs(points, 1000))
        assert held
        return super().step(problem, points, state)


def test_a_method_that_holds_the_gradients_of_all_classes_is_seen():
    few, many = (beside_the_answer(*task(4, classes, 300), method=HoldsEveryGradient()) for classes in (20, 200))
    assert many - few > 4 * 180 * 300 * 8
