"""A classifier takes inputs in the units of the data, and says what is wrong with a model."""

import copy

import pytest
import torch
from torch import nn
from torch.testing import assert_close
from torch.utils.checkpoint import checkpoint

from separatrix import Classifier, line_distance, minimal_perturbation
from separatrix.classifier import device_of, logits_of, require_model
from separatrix.testing import small_network

POINTS = torch.rand(5, 3, 4, 4, generator=torch.Generator().manual_seed(0))


def network(channels=3):
    layers = nn.Sequential(nn.Flatten(), nn.Linear(channels * 16, 4))
    with torch.no_grad():
        layers[1].weight.copy_(torch.randn(4, channels * 16, generator=torch.Generator().manual_seed(1)))
    return layers.eval()


NETWORK = network()


@pytest.mark.parametrize("form", [list, tuple, torch.tensor])
def test_channels_are_centred_and_divided(form):
    mean, std = [0.1, 0.2, 0.3], [0.5, 2.0, 4.0]
    channels = [(POINTS[:, place] - mean[place]) / std[place] for place in range(3)]
    expected = NETWORK(torch.stack(channels, 1))
    assert_close(Classifier(NETWORK, form(mean), form(std))(POINTS), expected)


def test_one_number_stands_for_all_channels():
    assert_close(Classifier(NETWORK, 0.5, 0.25)(POINTS), NETWORK((POINTS - 0.5) / 0.25))
    assert_close(Classifier(NETWORK, mean=0.5)(POINTS), NETWORK(POINTS - 0.5))
    assert_close(Classifier(NETWORK, std=0.25)(POINTS), NETWORK(POINTS / 0.25))
    assert_close(Classifier(NETWORK)(POINTS), NETWORK(POINTS))


def test_a_vector_has_its_features_for_channels():
    layer = nn.Linear(3, 2).eval()
    points = torch.rand(4, 3, generator=torch.Generator().manual_seed(0))
    mean = torch.tensor([1.0, 2.0, 3.0])
    assert_close(Classifier(layer, mean)(points), layer(points - mean))


def test_logits_are_taken_out_of_what_a_network_returns():
    class Answers(nn.Module):
        def forward(self, x):
            return {"logits": NETWORK(x)}

    assert_close(Classifier(Answers().eval(), logits=lambda out: out["logits"])(POINTS), NETWORK(POINTS))


def test_normalisation_goes_where_the_module_goes_and_is_not_saved():
    module = network().double()
    classifier = Classifier(module, mean=[0.1, 0.2, 0.3])
    assert classifier.mean.dtype == torch.float64
    assert set(classifier.state_dict()) == {f"module.{name}" for name in module.state_dict()}


def test_wrapping_changes_no_mode():
    module = nn.Sequential(network(), nn.Dropout())
    module[0].eval()
    module[1].train()
    assert Classifier(module).training == module.training
    assert not module[0].training
    assert module[1].training
    assert not Classifier(network()).training


def test_arguments_are_not_shared():
    mean = torch.zeros(3)
    classifier = Classifier(NETWORK, mean)
    mean += 1
    assert_close(classifier(POINTS), NETWORK(POINTS))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bounds": (1, 0)}, r"`bounds` must be a pair \(least, greatest\); got \(1, 0\)"),
        ({"bounds": (0, 1, 2)}, "`bounds` must be a pair"),
        ({"std": 0.0}, r"`std` must be above 0; got 0\.0"),
        ({"std": [1.0, -1.0, 1.0]}, "`std` must be above 0"),
        ({"bounds": 1}, r"`bounds` must be a pair \(least, greatest\); got 1\."),
        ({"bounds": ("a", "b")}, "`bounds` must be a pair"),
        ({"mean": torch.zeros(3, 4, 4)}, r"`mean` must be one number, or one a channel; got shape \(3, 4, 4\)"),
        ({"mean": "x"}, r"`mean` must be one number, or one a channel; got 'x'\."),
        ({"std": ["a", "b", "c"]}, "`std` must be one number, or one a channel; got"),
        ({"logits": "logits"}, r"`logits` must be callable with what the module returns; got str\."),
        ({"module": lambda x: x}, r"`module` must be a torch\.nn\.Module; got function\."),
    ],
)
def test_bad_arguments_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Classifier(**{"module": NETWORK} | settings)


class Counted(nn.Module):
    """A network whose first parameter is a whole number."""

    def __init__(self):
        super().__init__()
        self.count = nn.Parameter(torch.ones(2, dtype=torch.int64), requires_grad=False)
        self.network = network().double()

    def forward(self, x):
        return self.network(x)


class Held(nn.Module):
    """A linear classifier whose weights are a buffer."""

    def __init__(self, dtype=torch.float32):
        super().__init__()
        self.register_buffer("weights", torch.randn(48, 4, generator=torch.Generator().manual_seed(1)).to(dtype))

    def forward(self, x):
        return x.flatten(1) @ self.weights


def test_normalisation_has_the_precision_of_the_first_floating_tensor():
    assert Classifier(Counted(), mean=0.25).mean.item() == 0.25
    assert Classifier(Counted(), mean=0.1).mean.dtype == torch.float64
    assert Classifier(Held(torch.float64), mean=0.1).mean.dtype == torch.float64


def test_normalisation_follows_points_of_any_precision():
    assert require_model(Classifier(nn.Flatten(), mean=0.1).eval(), POINTS.double()) == 48


@pytest.mark.parametrize("form", [lambda score: score, lambda score: score[:, None]], ids=["(n,)", "(n, 1)"])
def test_one_score_stands_for_two_logits(form):
    score = POINTS.flatten(1).sum(1) - 24
    logits = logits_of(lambda x: form(x.flatten(1).sum(1) - 24), POINTS)
    assert_close(logits, torch.stack([torch.zeros(5), score], 1))
    assert require_model(lambda x: form(x.flatten(1).sum(1) - 24), POINTS) == 2


def test_the_number_of_classes_is_told():
    assert require_model(NETWORK, POINTS) == 4
    assert require_model(lambda x: NETWORK(x).detach(), POINTS, gradient=False) == 4


def test_the_device_is_that_of_the_parameters():
    assert device_of(NETWORK.to("cpu"), POINTS).type == "cpu"
    assert device_of(network().to("meta"), POINTS).type == "meta"
    assert device_of(lambda x: x, POINTS.to("meta")).type == "meta"


def test_the_device_is_that_of_the_buffers_where_there_are_no_parameters():
    assert device_of(Held().to("meta"), POINTS).type == "meta"
    assert device_of(nn.Flatten(), POINTS.to("meta")).type == "meta"


def test_constant_models_are_not_mistaken_for_probabilities():
    for answer in (0.0, 0.25, 1.0):
        assert require_model(lambda x, answer=answer: 0 * NETWORK(x) + answer, POINTS) == 4
    for answer in (0.0, 0.5):
        assert require_model(lambda x, answer=answer: 0 * NETWORK(x)[:, :1] + answer, POINTS) == 2
    assert require_model(lambda x: 0 * NETWORK(x)[:, 0] + 1, POINTS) == 2


PROBABILITIES = {
    "softmax": (lambda x: NETWORK(x).softmax(1), "before softmax; got rows in [0, 1] that sum to 1"),
    "two-class softmax": (lambda x: NETWORK(x)[:, :2].softmax(1), "before softmax; got rows in [0, 1] that sum to 1"),
    "saturated softmax": (lambda x: (1e6 * NETWORK(x)).softmax(1), "before softmax; got rows in [0, 1]"),
    "sigmoid (n,)": (lambda x: NETWORK(x)[:, 0].sigmoid(), "before sigmoid; got scores in [0, 1]"),
    "sigmoid (n, 1)": (lambda x: NETWORK(x)[:, :1].sigmoid(), "before sigmoid; got scores in [0, 1]"),
    "sigmoid of roots": (lambda x: NETWORK(x.sqrt())[:, 0].sigmoid(), "before sigmoid; got scores in [0, 1]"),
    "softmax over one logit": (lambda x: NETWORK(x)[:, :1].softmax(1), "before softmax; got 1 for every point"),
}


@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("case", PROBABILITIES)
def test_probabilities_are_refused(case, count):
    model, phrase = PROBABILITIES[case]
    with pytest.raises(ValueError, match=r"^`model` must return logits, ") as caught:
        require_model(model, POINTS[:count])
    assert phrase in str(caught.value)


def pixels_alone(x):
    if x.min() < 0 or x.max() > 1:
        raise ValueError("inputs must lie between 0 and 1")
    return x.flatten(1).mean(1).sigmoid()


def test_probabilities_are_refused_where_the_model_answers_nowhere_else():
    with pytest.raises(ValueError, match="before sigmoid"):
        require_model(pixels_alone, POINTS)


def share(x):
    return x.flatten(1).mean(1)


LOGITS_IN_RANGE = {
    "score (n,)": (share, 2),
    "score (n, 1)": (lambda x: share(x)[:, None], 2),
    "score of the direction": (lambda x: share(x) / x.flatten(1).norm(dim=1), 2),
    "two logits that sum to 1": (lambda x: torch.stack([share(x), 1 - share(x)], 1), 2),
}


@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("case", LOGITS_IN_RANGE)
def test_logits_that_happen_to_lie_in_range_are_none(case, count):
    model, classes = LOGITS_IN_RANGE[case]
    assert model(POINTS).min() >= 0
    assert model(POINTS).max() <= 1
    assert require_model(model, POINTS[:count]) == classes


def test_bounds_allow_rounding_and_nothing_more():
    classifier = Classifier(NETWORK, bounds=(0, 1))
    require_model(classifier, POINTS * 1.00005)
    with pytest.raises(ValueError, match=r"`points` must lie within the model's bounds \[0, 1\]"):
        require_model(classifier, POINTS * 2)


def test_every_part_in_training_mode_is_named():
    module = nn.Sequential(nn.Sequential(nn.Dropout(), nn.Dropout()), nn.Dropout(), NETWORK).eval()
    module[0].train()
    with pytest.raises(ValueError, match=r"in eval mode; got training mode in 0, 0\.0, 0\.1\. Call `model\.eval\(\)`"):
        require_model(module, POINTS)
    module.train()
    with pytest.raises(ValueError, match="and 5 more"):
        require_model(module, POINTS)
    NETWORK.eval()


def test_the_flag_of_a_wrapper_says_nothing():
    module = network().train()
    classifier = Classifier(module)
    with pytest.raises(ValueError, match=r"got training mode in module, module\.0, module\.1\. Call"):
        require_model(classifier, POINTS)
    module.eval()
    assert classifier.training
    assert require_model(classifier, POINTS) == 4


class Mixed(nn.Module):
    """Layers of two precisions."""

    def __init__(self, dtype):
        super().__init__()
        self.first, self.last = nn.Linear(48, 8), nn.Linear(8, 4).to(dtype)

    def forward(self, x):
        return self.last(self.first(x.flatten(1)).to(self.last.weight.dtype)).to(x.dtype)


PRECISIONS = {
    "half layers": (Mixed(torch.float16), "got torch.float32 in first.weight and torch.float16 in last.weight"),
    "double layers": (Mixed(torch.float64), "got torch.float32 in first.weight and torch.float64 in last.weight"),
    "double buffer": (
        nn.Sequential(network(), nn.BatchNorm1d(4)),
        "got torch.float32 in 0.1.weight and torch.float64 in 1.running_mean",
    ),
    "only a double buffer": (Held(torch.float64), "got torch.float32 points for a torch.float64 model"),
    "only a half buffer": (Held(torch.float16), "`model` must be float32 or float64; got torch.float16"),
}
PRECISIONS["double buffer"][0][1].running_mean = torch.zeros(4, dtype=torch.float64)


@pytest.mark.parametrize("case", PRECISIONS)
def test_every_part_has_the_precision_of_the_points(case):
    model, phrase = PRECISIONS[case]
    with pytest.raises(ValueError, match=r"^`(model|points)` must .* Convert with `") as caught:
        require_model(model.eval(), POINTS)
    assert phrase in str(caught.value)


@pytest.mark.parametrize(("points", "logits"), [(torch.float32, torch.float64), (torch.float64, torch.float32)])
def test_logits_have_the_precision_of_the_points(points, logits):
    fix = r"Return `logits\.to\(points\.dtype\)`\."
    with pytest.raises(ValueError, match=f"in the points' precision; got {logits} logits for {points} points. {fix}"):
        require_model(lambda x: NETWORK(x.float()).to(logits), POINTS.to(points))


def test_whole_numbers_for_logits_are_not_taken_for_pixels():
    with pytest.raises(
        ValueError, match=r"^`model's logits` must be .*; got torch\.int64\. Convert with `\.float\(\)`\.$"
    ):
        require_model(lambda x: NETWORK(x).long(), POINTS)


def raising(error):
    def model(x):
        raise error

    return model


class Reentrant(nn.Module):
    """A network whose gradient only ``backward`` can take."""

    def forward(self, x):
        return checkpoint(NETWORK, x, use_reentrant=True)


SHAPES = r"`points` must have a shape the model accepts; got \(5, 3, 4, 4\): "
ANSWERS = "`model` must answer the points; "
GRADIENT = "`model` must be differentiable in its input; got "
ERRORS = {
    "wrong features": (nn.Sequential(nn.Flatten(), nn.Linear(9, 4)).eval(), SHAPES + "mat1 and mat2 shapes"),
    "wrong channels": (nn.Conv2d(1, 4, 3).eval(), SHAPES + "Given groups=1"),
    "wrong axes": (nn.BatchNorm1d(3).eval(), SHAPES + r"expected 2D or 3D input \(got 4D input\)\.$"),
    "wrong height": (
        raising(AssertionError("Input height (4) is not 224.")),
        SHAPES + r"Input height \(4\) is not 224\.$",
    ),
    "another device": (
        raising(RuntimeError("Expected all tensors to be on the same device\nbut found two")),
        ANSWERS + r"got RuntimeError: Expected all tensors to be on the same device\.$",
    ),
    "two arguments": (lambda x: NETWORK(x, 1), ANSWERS + r"got TypeError: .* takes 2 positional arguments"),
    "an index": (lambda x: x[:, 3].flatten(1), ANSWERS + "got IndexError: index 3 is out of bounds"),
    "no forward": (nn.Module().eval(), ANSWERS + "got NotImplementedError: "),
    "nothing said": (raising(RuntimeError()), ANSWERS + r"got RuntimeError\.$"),
    "blank lines": (raising(AssertionError(" \n ")), ANSWERS + r"got AssertionError\.$"),
    "NumPy": (lambda x: NETWORK(torch.from_numpy(x.numpy())), GRADIENT + "logits without a gradient. Remove `no_grad`"),
    "no input": (lambda x: NETWORK(POINTS), GRADIENT + "logits without a gradient. Remove `no_grad`"),
    "a gradient that fails": (Reentrant().eval(), GRADIENT + "RuntimeError: When use_reentrant=True"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_a_model_raises_is_told_in_one_line(case):
    model, message = ERRORS[case]
    with pytest.raises(ValueError, match=f"^{message}") as caught:
        require_model(model, POINTS)
    assert "\n" not in str(caught.value)


def test_a_user_may_interrupt():
    with pytest.raises(KeyboardInterrupt):
        require_model(raising(KeyboardInterrupt()), POINTS)


def test_a_model_made_in_inference_mode_is_refused_with_what_helps():
    with torch.inference_mode():
        model = network()
    with pytest.raises(
        ValueError, match=r"^`model` must be made outside `torch\.inference_mode`; got .*`copy\.deepcopy"
    ):
        require_model(model, POINTS)
    assert require_model(copy.deepcopy(model), POINTS) == 4
    assert require_model(model, POINTS, gradient=False) == 4


def test_bounds_that_are_none_are_refused():
    model = network()
    model.bounds = "no"
    with pytest.raises(ValueError, match=r"^`model\.bounds` must be a pair \(least, greatest\); got 'no'"):
        require_model(model, POINTS)


class Small(nn.Module):
    """A network in a memory of so many points."""

    def __init__(self, room):
        super().__init__()
        self.network, self.room = network(), room

    def forward(self, x):
        if len(x) > self.room:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return self.network(x)


@pytest.mark.parametrize("room", [1, 2, 8])
def test_a_model_is_asked_for_as_many_points_as_fit(room):
    model, points = Small(room).eval(), torch.rand(12, 3, 4, 4, generator=torch.Generator().manual_seed(0))
    assert require_model(model, points) == 4
    with pytest.warns(RuntimeWarning, match="Out of memory: `batch_size` is now"):
        boundary = minimal_perturbation(model, points)
    assert_close(boundary.distance, minimal_perturbation(model.network, points).distance)
    assert len(line_distance(model, points, points[0], batch_size=room)) == 12


def test_a_memory_of_no_point_is_no_fault_of_the_model():
    with pytest.raises(torch.OutOfMemoryError):
        require_model(Small(0).eval(), POINTS)


def test_asking_leaves_no_trace():
    model, points = small_network(), torch.rand(20, 1, 8, 8)
    asked = []
    require_model(lambda x: (asked.append(len(x)), model(x))[1], points)
    assert sum(asked) <= 8
    assert not points.requires_grad
    assert all(parameter.grad is None for parameter in model.parameters())
