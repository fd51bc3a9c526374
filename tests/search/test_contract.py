"""Every method keeps the contract, the one in the docs among them; a method that breaks a law is told which."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch

from separatrix import DeepFool, minimal_perturbation
from separatrix.fields import linearise
from separatrix.norms import per_sample
from separatrix.search import AbstractSearch
from separatrix.testing import check_search, contract, small_network

PAGE = (Path(__file__).parents[2] / "docs" / "new-search-method.md").read_text("utf-8")


@pytest.mark.parametrize("law", contract.LAWS, ids=lambda law: law.__name__.removeprefix("_check_"))
def test_every_method_keeps_the_contract(contracted, law):
    law(contracted)


@pytest.fixture
def blocks():
    return re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_method_in_the_docs_takes_under_25_lines_and_keeps_the_contract(blocks):
    assert len(blocks[0].strip().splitlines()) < 25
    names = {"__name__": "new_search_method"}
    exec(blocks[0], names)
    names |= {"model": small_network(), "points": torch.randn(4, 1, 8, 8, generator=torch.Generator().manual_seed(0))}
    exec(blocks[1], names)
    assert names["boundary"].found.all()
    exec(blocks[2], names)


@dataclass(frozen=True)
class Changed(AbstractSearch):
    """DeepFool with one thing done to its step."""

    def begin(self, problem):
        return DeepFool().begin(problem)

    def step(self, problem, points, state):
        return self.change(problem, DeepFool().step(problem, points, state))


class ClaimsTooMuch(Changed):
    def change(self, problem, step):
        return replace(step, value=step.value.abs())


class StaysAtHome(Changed):
    def change(self, problem, step):
        return replace(step, lost=torch.ones_like(step.lost))


class AsksBehindTheBack(Changed):
    def change(self, problem, step):
        linearise(problem.margin, step.points)
        return step


class LeavesTheSubspace(Changed):
    def change(self, problem, step):
        if problem.subspace is None:
            return step
        trial = step.trial + 1e-6
        return replace(step, trial=trial, value=problem.value(trial))


class LooksAtItsNeighbours(Changed):
    def change(self, problem, step):
        trial = step.trial + len(problem) / 1000 * (step.trial - problem.start)
        return replace(step, trial=trial, value=problem.value(trial))


class MindsTheScale(Changed):
    def change(self, problem, step):
        far = (problem.logits(step.points).abs().amax(1) > 1e3).to(step.trial)
        trial = step.trial + per_sample(far, step.trial) * (step.trial - problem.start)
        return replace(step, trial=trial, value=problem.value(trial))


class DrawsGlobally(Changed):
    def change(self, problem, step):
        torch.rand(1)
        return step


class LeavesAHook(Changed):
    def change(self, problem, step):
        if isinstance(problem.margin.model, torch.nn.Module):
            problem.margin.model.register_forward_hook(lambda *_: None)
        return step


@pytest.mark.parametrize(
    ("breaker", "law"),
    [
        (ClaimsTooMuch(), "every point near a simple boundary must be found"),
        (StaysAtHome(), "every point near a simple boundary must be found"),
        (AsksBehindTheBack(), "must be what the model saw"),
        (LeavesTheSubspace(), "a perturbation must stay in its subspace"),
        (LooksAtItsNeighbours(), "a batch must equal its parts"),
        (MindsTheScale(), r"logits times 1.04858e\+06 must change nothing; broken for \d+ of 24 on `raw_distance`"),
        (DrawsGlobally(), "the global random state must not move"),
        (LeavesAHook(), "the model must come back as it was"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_method_that_breaks_a_law_is_told_which(breaker, law):
    with pytest.raises(AssertionError, match=law):
        check_search(breaker)


def test_the_small_network_has_points_of_every_class():
    points = torch.randn(64, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    assert small_network()(points).argmax(1).unique().tolist() == [0, 1, 2]
    assert minimal_perturbation(small_network(), points).found.all()
