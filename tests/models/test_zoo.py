"""Networks by name: shapes, derivatives, sizes, and what a form changes."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from separatrix.classifier import require_model
from separatrix.models import ZOO, network
from separatrix.models.zoo.densenet import DenseLayer
from separatrix.models.zoo.form import Form
from separatrix.models.zoo.resnet import Residual
from separatrix.models.zoo.wide_resnet import WideResidual

DEEP = {"vgg-16": (3, 32, 32), "wrn-28-10": (3, 8, 8), "densenet-121": (3, 8, 8), "resnet-18": (3, 8, 8)}
"""Networks that are measured on images of less than their own size, to be fast."""

FLATTENED = ("lenet", "lenet-32", "cnn-6", "vgg-16", "fc500-150")
POOLED = ("nin", "resnet-18-half")


def points_for(shape, n=2):
    return torch.rand(n, *shape, generator=torch.Generator().manual_seed(0))


def shape_of(name):
    return DEEP.get(name, ZOO[name].native.shape)


def bend(model, points):
    """How the first logit's gradient changes along a direction, at each point ``(n,)``."""
    points = points.clone().requires_grad_()
    direction = torch.randn(points.shape, generator=torch.Generator().manual_seed(1))
    (gradient,) = torch.autograd.grad(model(points)[:, 0].sum(), points, create_graph=True)
    along = (gradient * direction).sum()
    if not along.requires_grad:
        return torch.zeros(len(points))
    (second,) = torch.autograd.grad(along, points, allow_unused=True)
    return torch.zeros(len(points)) if second is None else second.flatten(1).norm(dim=1)


@pytest.mark.parametrize("name", ZOO)
def test_every_network_can_be_measured(name):
    shape = shape_of(name)
    model = network(name, shape=shape).eval()
    assert require_model(model, points_for(shape)) == ZOO[name].native.classes


@pytest.mark.parametrize("name", ZOO)
def test_the_logits_depend_on_every_weight(name):
    shape = shape_of(name)
    model = network(name, shape=shape).eval()
    gradients = torch.autograd.grad(model(points_for(shape))[:, 0].sum(), list(model.parameters()))
    assert all(gradient.abs().max() > 0 for gradient in gradients)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("lenet", 431_080),
        ("lenet-32", 145_578),
        ("fc500-150", 784 * 500 + 500 + 500 * 150 + 150 + 150 * 10 + 10),
        ("mlp-10x500", 100 * 500 + 500 + 9 * (500 * 500 + 500) + 500 * 2 + 2),
        ("nin", 966_986 - (192 + 160 + 96 + 5 * 192) + 2 * (192 + 160 + 96 + 5 * 192)),
        ("vgg-16", 14_728_266 - 4_224),
        ("resnet-18", 11_173_962),
        ("wrn-28-10", 36_479_194),
        ("densenet-121", 6_956_298),
    ],
)
def test_sizes_are_those_of_the_literature(name, count):
    assert ZOO[name].parameters == count


@pytest.mark.parametrize("name", ZOO)
def test_an_architecture_knows_its_size_without_being_built(name):
    assert ZOO[name].parameters == sum(parameter.numel() for parameter in network(name).parameters())


@pytest.mark.parametrize("activation", ["softplus", "silu"])
@pytest.mark.parametrize("name", ZOO)
def test_a_smooth_form_has_no_kinks(name, activation):
    model = network(name, activation=activation, pooling="average", shape=shape_of(name))
    assert not [part for part in model.modules() if isinstance(part, (nn.ReLU, nn.MaxPool2d))]


@pytest.mark.parametrize("name", ["lenet", "lenet-32", "mlp", "nin", "cnn-6", "resnet-18-half", "densenet-121"])
def test_smooth_forms_bend_and_the_others_do_not(name):
    shape = (3, 16, 16) if len(ZOO[name].native.shape) == 3 else ZOO[name].native.shape
    points = points_for(shape)
    assert (bend(network(name, shape=shape).eval(), points) == 0).all()
    assert (bend(network(name, shape=shape, activation="softplus", pooling="average").eval(), points) > 0).all()


def test_softplus_stays_near_relu():
    numbers = torch.linspace(-4, 4, 1001)
    gap = (Form(2, (1,), "softplus").activate()(numbers) - numbers.relu()).max()
    assert_close(gap, torch.tensor(2.0).log() / 5)


@pytest.mark.parametrize(("pooling", "kinds"), [(None, "MAA"), ("max", "MMM"), ("average", "AAA")])
def test_pooling_is_the_networks_own_unless_asked_for(pooling, kinds):
    pools = [part for part in network("lenet-32", pooling=pooling) if "Pool" in type(part).__name__]
    assert "".join(type(pool).__name__[0] for pool in pools) == kinds


def test_averages_near_the_edge_count_no_padding():
    ones = torch.ones(1, 1, 5, 5)
    assert_close(Form(2, (1, 5, 5)).pool("average", 3, 2, 1)(ones), torch.ones(1, 1, 3, 3))


@pytest.mark.parametrize("sides", [(0, 0), (1, 0), (3, 9), (17, 8)])
@pytest.mark.parametrize("name", FLATTENED + POOLED)
def test_images_of_other_sizes_are_read(name, sides):
    least = max(ZOO[name].least, 4)
    shape = (2, least + sides[0], least + sides[1])
    model = network(name, shape=shape, classes=7).eval()
    assert model(points_for(shape)).shape == (2, 7)


@pytest.mark.parametrize("name", [name for name in ZOO if ZOO[name].least])
def test_images_too_small_are_refused(name):
    least = ZOO[name].least
    rule = rf"`shape` must be \(channels, height, width\) of at least {least} × {least} for {name}"
    for shape in ((3, least - 1, 40), (3, 40, least - 1), (3 * 32 * 32,)):
        with pytest.raises(ValueError, match=rule):
            network(name, shape=shape)


@pytest.mark.parametrize("name", ["lenet", "fc500-150", "cnn-6"])
def test_images_of_a_size_that_was_not_asked_for_are_refused(name):
    model = network(name).eval()
    shape = (ZOO[name].native.channels, 40, 40)
    with pytest.raises(ValueError, match=r"`points` must have a shape the model accepts; got \(2, ., 40, 40\)"):
        require_model(model, points_for(shape))


def test_vectors_and_images_are_flattened_alike():
    flat, image = network("mlp", shape=(48,)).eval(), network("mlp", shape=(3, 4, 4)).eval()
    points = points_for((3, 4, 4))
    assert_close(flat(points.flatten(1)), image(points))


def test_a_seed_names_the_weights_and_nothing_else_is_drawn():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first, again, other = (network("lenet", seed=seed).state_dict() for seed in (3, 3, 4))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not any(torch.equal(first[name], other[name]) for name in first)


def test_signals_neither_fade_nor_grow_over_ten_layers():
    model = network("mlp-10x500").eval()
    vectors = torch.randn(200, 100, generator=torch.Generator().manual_seed(0))
    assert 0.2 < model[:-1](vectors).std() < 5


def test_a_dense_layer_hands_on_what_came_in():
    features = points_for((6, 5, 5))
    assert torch.equal(DenseLayer(Form(2, (3, 8, 8)), 6, 4).eval()(features)[:, :6], features)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("block", [Residual, WideResidual])
def test_a_block_without_its_convolutions_is_its_shortcut(block, stride):
    layer = block(Form(2, (3, 8, 8), "silu"), 6, 6, stride).eval()
    nn.init.zeros_(layer.conv2.weight)
    features = points_for((6, 8, 8))
    if block is Residual:
        expected = layer.activation2(layer.shortcut(features))
    else:
        expected = features if stride == 1 else layer.shortcut(layer.activation1(layer.norm1(features)))
    assert_close(layer(features), expected)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"name": "lenet-5"}, "`name` must be one of 'lenet', 'smooth-lenet', .*'densenet-121'; got 'lenet-5'"),
        ({"activation": "tanh"}, "`activation` must be one of 'relu', 'softplus', 'silu'; got 'tanh'"),
        ({"pooling": "median"}, "`pooling` must be one of 'max', 'average'; got 'median'"),
        ({"classes": 0}, "`classes` must be a whole number ≥ 1; got 0"),
        ({"activation": ["relu"]}, r"`activation` must be one of .*; got \['relu'\]"),
        ({"shape": (1, 0, 28)}, r"`shape` must be a tuple of whole numbers ≥ 1; got \(1, 0, 28\)"),
        ({"shape": ()}, r"`shape` must be a tuple of whole numbers ≥ 1; got \(\)"),
        ({"shape": 28}, "`shape` must be a tuple of whole numbers ≥ 1; got 28"),
        ({"seed": -1}, "`seed` must be a whole number from 0 to .*; got -1"),
        ({"seed": 2**63}, "`seed` must be a whole number from 0 to .*; got 9223372036854775808"),
    ],
)
def test_what_the_zoo_does_not_have_is_refused(request_, message):
    with pytest.raises(ValueError, match=message):
        network(**{"name": "lenet", **request_})


def test_names_are_those_of_the_architectures():
    assert all(name == architecture.name for name, architecture in ZOO.items())
    with pytest.raises(TypeError):
        ZOO["another"] = ZOO["lenet"]
