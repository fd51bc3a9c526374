"""Bad requests: each is refused by name, in one line."""

import math
import re

import pytest
import torch
from torch import nn

from separatrix import L2, Classifier, Linf, Norm, line_distance, minimal_perturbation, subspaces
from separatrix.search import DDN, LBFGS, DeepFool
from separatrix.testing import small_network

MODEL = small_network()
POINTS = torch.randn(4, 1, 8, 8, generator=torch.Generator().manual_seed(0))
OWN = MODEL(POINTS).argmax(1)


def ask(model=MODEL, points=POINTS, **settings):
    return minimal_perturbation(model, points, **settings)


def along(directions=POINTS, **settings):
    return line_distance(MODEL, POINTS, directions, **settings)


def spoilt(value):
    points = POINTS.clone()
    points[2, 0, 3, 3] = value
    return points


def training():
    network = small_network()
    network[1].train()
    return network


def writing(x):
    x += 1
    return MODEL(x)


def without_gradient(x):
    with torch.no_grad():
        return MODEL(x)


PLANE = subspaces.dct_block((1, 8, 8), 3)
REQUESTS = {
    "a model that is none": (lambda: ask(model="lenet"), "`model` must be callable", "got str"),
    "training mode": (lambda: ask(model=training()), "`model` must be in eval mode", "Call `model.eval()`"),
    "probabilities": (
        lambda: ask(model=lambda x: MODEL(x).softmax(1)),
        "`model` must return logits, before softmax",
        "sum to 1",
    ),
    "a dict for logits": (
        lambda: ask(model=lambda x: {"logits": MODEL(x)}),
        "`model` must return a tensor of logits",
        "got dict. Wrap it",
    ),
    "a tuple for logits": (
        lambda: ask(model=lambda x: (MODEL(x), x)),
        "`model` must return a tensor of logits",
        "got tuple",
    ),
    "NaN logits": (lambda: ask(model=lambda x: MODEL(x) * math.nan), "`model` must return finite logits", "NaN or inf"),
    "a wrong number of rows": (
        lambda: ask(model=lambda x: MODEL(x)[:2]),
        "`model` must return logits (n, c), one row a point",
        "shape (2, 3) for 4 points",
    ),
    "maps for logits": (
        lambda: ask(model=lambda x: x),
        "`model` must return logits (n, c), one row a point",
        "shape (4, 1, 8, 8)",
    ),
    "one class": (lambda: ask(model=lambda x: MODEL(x)[:, :0]), "`model` must", "(4, 0)"),
    "half-precision logits": (
        lambda: ask(model=lambda x: MODEL(x).half()),
        "`model's logits` must be float32 or float64",
        "torch.float16",
    ),
    "detached logits": (
        lambda: ask(model=lambda x: MODEL(x).detach()),
        "`model` must be differentiable in its input",
        "Remove `no_grad`",
    ),
    "no_grad in forward": (
        lambda: ask(model=without_gradient),
        "`model` must be differentiable in its input",
        "logits without a gradient",
    ),
    "NumPy in forward": (
        lambda: ask(model=lambda x: MODEL(torch.tensor(x.detach().numpy()))),
        "`model` must be differentiable",
        "NumPy",
    ),
    "a model that writes into its input": (
        lambda: ask(model=writing),
        "`model` must leave its input as it was",
        "Clone the input",
    ),
    "a half-precision model": (
        lambda: ask(model=small_network().half()),
        "`model` must be float32 or float64",
        "Convert with `.float()`",
    ),
    "points in half precision": (
        lambda: ask(points=POINTS.half()),
        "`points` must be float32 or float64",
        "Convert with `.float()`",
    ),
    "points in bfloat16": (
        lambda: ask(points=POINTS.bfloat16()),
        "`points` must be float32 or float64",
        "torch.bfloat16",
    ),
    "float64 points for a float32 model": (
        lambda: ask(points=POINTS.double()),
        "`points` must have the model's precision",
        "torch.float64 points for a torch.float32 model",
    ),
    "float32 points for a float64 model": (
        lambda: ask(model=small_network(dtype=torch.float64)),
        "`points` must have the model's precision",
        "Convert with `.to(torch.float64)`",
    ),
    "integer images": (
        lambda: ask(points=(POINTS * 255).byte()),
        "`points` must be float32 or float64",
        "divide by 255",
    ),
    "complex points": (
        lambda: ask(points=POINTS.to(torch.complex64)),
        "`points` must be float32 or float64",
        "complex64",
    ),
    "NaN points": (lambda: ask(points=spoilt(math.nan)), "`points` must be finite", "NaN or inf in 1 of 4 points"),
    "infinite points": (
        lambda: ask(points=spoilt(-math.inf)),
        "`points` must be finite",
        "NaN or inf in 1 of 4 points",
    ),
    "a NumPy array": (lambda: ask(points=POINTS.numpy()), "`points` must be a torch tensor", "got ndarray"),
    "a vector for a batch": (
        lambda: ask(points=POINTS[0, 0, 0]),
        "`points` must be a batch (n, *shape)",
        "Use `points[None]`",
    ),
    "an empty batch": (lambda: ask(points=POINTS[:0]), "`points` must hold at least one point", "shape (0, 1, 8, 8)"),
    "images of other channels": (
        lambda: ask(points=POINTS.expand(4, 3, 8, 8)),
        "`points` must have a shape the model accepts",
        "(4, 3, 8, 8)",
    ),
    "images of another size": (
        lambda: ask(points=torch.zeros(4, 1, 9, 12)),
        "`points` must have a shape the model accepts",
        "(4, 1, 9, 12)",
    ),
    "values out of bounds": (
        lambda: ask(model=Classifier(MODEL, bounds=(0, 1)), points=POINTS.abs() * 255),
        "`points` must lie within the model's bounds [0, 1]",
        "Are the units right?",
    ),
    "targets out of range": (lambda: ask(targets=3), "`targets` must be classes from 0 to 2", "got 3 to 3"),
    "negative targets": (
        lambda: ask(targets=torch.tensor([0, -1, 1, 2])),
        "`targets` must be classes from 0 to 2",
        "got -1 to 2",
    ),
    "targets equal to the own label": (
        lambda: ask(targets=OWN),
        "`targets` must differ from the model's own answer",
        "the same class for 4 points",
    ),
    "targets for other points": (lambda: ask(targets=OWN[:2]), "`targets` must have shape (4,)", "shape (2,)"),
    "targets that are no numbers": (
        lambda: ask(targets="cat"),
        "`targets` must be a torch tensor of 4 entries",
        "got str",
    ),
    "targets that are fractions": (
        lambda: ask(targets=OWN.float()),
        "`targets` must hold whole numbers",
        "torch.float32",
    ),
    "a rival out of range": (lambda: ask(rival=7), "`rival` must be classes from 0 to 2", "got 7 to 7"),
    "a rival equal to the own label": (
        lambda: ask(rival=OWN),
        "`rival` must differ from the model's own answer",
        "the same class for 4 points",
    ),
    "targets and a rival": (
        lambda: ask(targets=1, rival=2),
        "`rival` must not be given together with `targets`",
        "both",
    ),
    "an unknown norm": (lambda: ask(norm="l2"), "`norm` must be a Norm: `L2`, `Linf` or `Norm(p)`", "l2"),
    "a number for a norm": (lambda: ask(norm=2), "`norm` must be a Norm", "got 2"),
    "p = 1": (lambda: ask(norm=Norm(1)), "`p` must be a number above 1, or math.inf", "got 1"),
    "p = 0.5": (lambda: ask(norm=Norm(0.5)), "`p` must be a number above 1", "got 0.5"),
    "p not a number": (lambda: ask(norm=Norm(math.nan)), "`p` must be a number above 1", "got nan"),
    "a subspace of another shape": (
        lambda: ask(subspace=subspaces.dct_block((1, 9, 9), 3)),
        "`subspace` must have the points' shape (1, 8, 8)",
        "shape (1, 9, 9)",
    ),
    "a subspace with ℓ∞": (lambda: ask(subspace=PLANE, norm=Linf), "`subspace` must go with ℓ2 only", "got ℓ∞"),
    "a matrix for a subspace": (lambda: ask(subspace=torch.eye(64)), "`subspace` must be a Subspace or None", "ensor"),
    "subspaces of other points": (
        lambda: ask(subspace=subspaces.span_each(torch.randn(3, 2, 1, 8, 8))),
        "`subspace` must hold one subspace for each of the 4 points",
        "got 3",
    ),
    "batch_size 0": (lambda: ask(batch_size=0), "`batch_size` must be a whole number ≥ 1", "got 0"),
    "batch_size 2.5": (lambda: ask(batch_size=2.5), "`batch_size` must be a whole number ≥ 1", "got 2.5"),
    "no starts": (lambda: ask(starts=0), "`starts` must be a whole number ≥ 1", "got 0"),
    "retries below none": (lambda: ask(retries=-1), "`retries` must be a whole number ≥ 0", "got -1"),
    "no steps": (lambda: ask(max_steps=0), "`max_steps` must be a whole number ≥ 1", "got 0"),
    "a negative seed": (lambda: ask(seed=-1), "`seed` must be a whole number from 0 to 2^63 − 1", "got -1"),
    "a seed beyond 63 bits": (lambda: ask(seed=2**63), "`seed` must be a whole number from 0 to 2^63 − 1", "got 9"),
    "ids of other points": (
        lambda: ask(ids=torch.arange(3)),
        "`ids` must have shape (4,), one entry a point",
        "shape (3,)",
    ),
    "ids that are fractions": (lambda: ask(ids=torch.arange(4.0)), "`ids` must hold whole numbers", "torch.float32"),
    "ids in a list": (lambda: ask(ids=[0, 1, 2, 3]), "`ids` must be a torch tensor of 4 entries", "got list"),
    "a refinement that is none": (lambda: ask(refine=True), "`refine` must be `Slide(…)` or None", "got True"),
    "a method by name": (
        lambda: ask(method="deepfool"),
        "`method` must be a search such as `DeepFool()`",
        "deepfool",
    ),
    "a class for a method": (
        lambda: ask(method=DeepFool),
        "`method` must be a search such as `DeepFool()`",
        "DeepFool",
    ),
    "a negative overshoot": (
        lambda: ask(method=DeepFool(overshoot=-0.1)),
        "`overshoot` must be a finite number ≥ 0",
        "got -0.1",
    ),
    "an overshoot by name": (
        lambda: ask(method=DeepFool(overshoot="a little")),
        "`overshoot` must be a finite number ≥ 0",
        "a little",
    ),
    "DDN without steps": (lambda: DDN(steps=0), "`steps` must be a whole number ≥ 1", "got 0"),
    "a rate by name": (lambda: DDN(rate="a"), "`rate` must be a number between 0 and 1", "got 'a'"),
    "a rate that is a truth value": (lambda: DDN(rate=True), "`rate` must be a number between 0 and 1", "got True"),
    "a rate of one": (lambda: DDN(last_rate=1.0), "`last_rate` must be a number between 0 and 1", "got 1.0"),
    "a rate that is none": (lambda: DDN(rate=None), "`rate` must be a number between 0 and 1", "got None"),
    "no iterations": (lambda: LBFGS(iterations=0), "`iterations` must be a whole number ≥ 1", "got 0"),
    "no history": (lambda: LBFGS(history=2.0), "`history` must be a whole number ≥ 1", "got 2.0"),
    "directions of no length": (
        lambda: along(POINTS * torch.tensor([1.0, 0, 0, math.nan])[:, None, None, None]),
        "`directions` must be finite and not zero",
        "got 2 zero, 1 NaN of 4",
    ),
    "an endless direction": (
        lambda: along(torch.full((1, 8, 8), -math.inf)),
        "`directions` must be finite and not zero",
        "got 1 infinite of 1",
    ),
    "directions in a list": (lambda: along([1.0]), "`directions` must be a torch tensor", "got list"),
    "a radius that is a truth value": (
        lambda: along(radius=True),
        "`radius` must be a number, or one a point (n,)",
        "got True",
    ),
    "a radius by name": (lambda: along(radius="a"), "`radius` must be a number, or one a point (n,)", "got 'a'"),
    "radii in a list": (lambda: along(radius=[1, 2]), "`radius` must be a number, or one a point (n,)", "got [1, 2]"),
    "a complex radius": (
        lambda: along(radius=torch.ones(4, dtype=torch.complex64)),
        "`radius` must hold real numbers",
        "got torch.complex64",
    ),
    "radii for other points": (lambda: along(radius=torch.ones(3)), "`radius` must have shape (4,)", "got shape (3,)"),
    "negative radii": (
        lambda: along(radius=torch.tensor([-1.0, 2.0, 0.0, math.inf])),
        "`radius` must be finite and above 0",
        "got -1, 0, inf",
    ),
    "a radius of nothing": (lambda: along(radius=0), "`radius` must be finite and above 0", "got 0"),
    "one candidate": (lambda: ask(method=DeepFool(candidates=1)), "`candidates` must be a whole number ≥ 2", "got 1"),
}


@pytest.mark.parametrize("case", REQUESTS)
def test_a_bad_request_is_refused_by_name(case):
    request, start, phrase = REQUESTS[case]
    with pytest.raises(ValueError, match=re.escape(start)) as caught:
        request()
    message = str(caught.value)
    assert message.startswith(start)
    assert phrase in message
    assert re.match(r"`[^`]+` must .+[;:].+\.?$", message)
    assert "\n" not in message


def test_what_is_next_to_a_bad_request_is_answered():
    assert ask(points=POINTS[:1]).found.all()
    assert ask(targets=(OWN + 1) % 3).found.any()
    assert ask(rival=(OWN + 1) % 3, norm=L2, subspace=PLANE).found.all()
    assert ask(norm=Norm(1.01), max_steps=50).found.any()
    assert ask(model=Classifier(MODEL, bounds=(-9, 9)), ids=torch.tensor([9, 3, 9, 0], dtype=torch.int32)).found.all()
    assert along(radius=torch.full((4,), 3)).found.any()
    assert DDN(rate=0.5, last_rate=1e-3).rate == 0.5
    assert ask(model=nn.Sequential(MODEL, nn.Identity()).eval(), starts=1, retries=0, batch_size=1).found.all()
