"""Models by name: in eval mode, normalised as they were trained; and each refusal in one line."""

import json
import sys
from types import ModuleType

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from separatrix import Classifier, load_model
from separatrix.classifier import require_model
from separatrix.models import Card, fingerprint, network, save_weights
from separatrix.runs import files

PICTURES = torch.rand(4, 3, 32, 32, generator=torch.Generator().manual_seed(0))
FOREIGN = {"timm": "timm:resnet18", "torchvision": "torchvision:resnet18", "transformers": "hf:lab/resnet18"}


@pytest.fixture(params=FOREIGN)
def foreign(request):
    """A name of each library, which is installed as a stand-in."""
    request.getfixturevalue(request.param)
    return FOREIGN[request.param]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The current folder, empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def factories(here):
    """A module of the current folder, by another name in every test."""
    name = f"factories_{here.name.replace('-', '_')}"
    (here / f"{name}.py").write_text(
        """
import torch
from torch import nn
from separatrix import Classifier

def module():
    return nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 5))

def classifier():
    return Classifier(module(), mean=0.5, std=0.25, bounds=(0, 1))

class Group:
    inner = staticmethod(classifier)

def numbers():
    return torch.zeros(3)

def broken():
    import no_such_library

constant = 3
"""
    )
    yield name
    sys.modules.pop(name, None)


def saved(folder, name="lenet", card=None, **form):
    """A file of weights, its card beside it, and the network."""
    model = network(name, **form, seed=1).eval()
    save_weights(model, folder / "net.safetensors")
    if card is not None:
        (folder / "net.json").write_text(json.dumps({**card.entries(), "recipe": {"epochs": 3}}))
    return model


def sealed(folder, *paths):
    """A card beside the weights that says what they hash to."""
    hashes = {path.name: files.digest(path) for path in paths}
    (folder / "net.json").write_text(json.dumps({"architecture": "lenet", "files": hashes}))


@pytest.mark.parametrize("shard_bytes", [10**6, 10**9])
def test_weights_that_have_changed_since_they_were_recorded_are_refused(here, shard_bytes):
    paths = save_weights(network("lenet"), here / "net.safetensors", shard_bytes=shard_bytes)
    sealed(here, *paths)
    load_model("zoo:lenet@net.safetensors")
    content = bytearray(paths[-1].read_bytes())
    content[-1] ^= 1
    paths[-1].write_bytes(content)
    message = rf"`path` must hold the weights that net\.json was written for; got other contents in {paths[-1].name}"
    with pytest.raises(ValueError, match=message):
        load_model("zoo:lenet@net.safetensors")


@pytest.mark.parametrize("hashes", [["net.safetensors"], {"other.safetensors": "0" * 64}, None])
def test_a_card_need_not_say_what_weights_hash_to(here, hashes):
    saved(here)
    (here / "net.json").write_text(json.dumps({"architecture": "lenet", "files": hashes}))
    assert load_model("zoo:lenet@net.safetensors").eval()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused_by_name(here, value):
    model = network("lenet")
    name, parameter = list(model.named_parameters())[2]
    parameter.data.view(-1)[3] = value
    save_weights(model, here / "net.safetensors")
    with pytest.raises(ValueError, match=rf"`path` must hold finite weights; got NaN or inf in {name} of net\.safet"):
        load_model("zoo:lenet@net.safetensors")


def test_the_zoo_and_a_file_make_a_model(here):
    expected = saved(here)
    model = load_model("zoo:lenet@net.safetensors")
    points = torch.rand(4, 1, 28, 28)
    assert require_model(model, points) == 10
    assert torch.equal(model(points), expected(points))
    assert all(parameter.requires_grad for parameter in model.parameters())
    assert model.bounds is None


def test_the_card_beside_the_weights_says_the_rest(here):
    form = {"classes": 4, "shape": (3, 20, 20), "activation": "silu", "pooling": "average"}
    expected = saved(here, card=Card("lenet", **form, mean=(0.1, 0.2, 0.3), std=0.5, bounds=(0.0, 2.0)), **form)
    model = load_model(f"zoo:lenet@{here}/net.safetensors")
    points = torch.rand(4, 3, 20, 20)
    mean = torch.tensor([0.1, 0.2, 0.3]).view(3, 1, 1)
    assert_close(model(points), expected((points - mean) / 0.5))
    assert model.bounds == (0.0, 2.0)


def test_shards_share_a_card(here):
    save_weights(network("lenet"), here / "net.safetensors", shard_bytes=10**6)
    (here / "net.json").write_text(json.dumps({"mean": 0.25}))
    for name in ("net.safetensors", "net-00002-of-00002.safetensors"):
        assert load_model(f"zoo:lenet@{name}").mean == 0.25


def test_a_card_makes_the_model_that_it_describes():
    model = Card("cnn-6", classes=3, mean=0.5, bounds=(0.0, 1.0)).classifier(seed=4)
    assert fingerprint(model.module) == fingerprint(network("cnn-6", classes=3, seed=4))
    assert model.training
    assert (model.mean, model.std, model.bounds) == (0.5, None, (0.0, 1.0))
    assert Card("lenet", mean=(0.5,)).entries() == {"architecture": "lenet", "mean": (0.5,)}


def test_random_weights_are_the_same_every_time(here):
    first, second = (load_model("zoo:lenet-32", pretrained=False) for _ in range(2))
    assert fingerprint(first) == fingerprint(second)
    assert not first.training


@pytest.mark.parametrize("pretrained", [True, False])
def test_models_of_other_libraries_are_normalised_as_they_were_trained(foreign, units, pretrained):
    model = load_model(foreign, pretrained=pretrained)
    assert require_model(model, PICTURES) == 3
    assert_close((model.mean, model.std), units, rtol=1e-6, atol=0)
    assert model.bounds == (0.0, 1.0)
    assert all(parameter.requires_grad and parameter.dtype == torch.float32 for parameter in model.parameters())


def test_loading_moves_no_random_state(foreign):
    before = torch.get_rng_state()
    first, second = (fingerprint(load_model(foreign, pretrained=False)) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), before)
    assert first == second


def test_units_can_be_given(foreign, units):
    model = load_model(foreign, mean=[1.0, 2.0, 3.0], std=4.0, bounds=(0, 255))
    assert_close(model.mean, torch.tensor([1.0, 2.0, 3.0]))
    assert model.std == 4
    assert model.bounds == (0, 255)
    assert_close(load_model(foreign, mean=0.5).std, units[1], rtol=1e-6, atol=0)
    assert require_model(model, PICTURES) == 3


@pytest.mark.usefixtures("torchvision")
@pytest.mark.parametrize(("which", "value"), [("", 2.0), ("@IMAGENET1K_V1", 1.0), ("@IMAGENET1K_V2", 2.0)])
def test_weights_of_torchvision_have_names(which, value):
    assert (load_model(f"torchvision:resnet18{which}").module[2].weight == value).all()


def test_attention_of_hugging_face_is_the_plain_one(transformers):
    load_model("hf:lab/resnet18")
    load_model("hf:lab/resnet18", pretrained=False)
    maker = transformers.AutoModelForImageClassification
    plain = {"attn_implementation": "eager"}
    assert maker.calls == [("pretrained", "lab/resnet18", plain), ("config", "config", plain)]


def test_factories_make_modules_and_classifiers(factories):
    module, classifier = load_model(f"{factories}:module"), load_model(f"{factories}:classifier")
    assert isinstance(module, Classifier)
    assert module.mean is None
    assert (classifier.mean, classifier.bounds) == (0.5, (0, 1))
    assert not module.training
    assert not module.module.training
    assert require_model(load_model(f"{factories}:Group.inner"), PICTURES) == 5
    assert load_model(f"{factories}:classifier", std=1.0).std == 1
    assert load_model(f"{factories}:classifier", std=1.0).mean == 0.5


def test_the_path_of_imports_stays(factories):
    before = list(sys.path)
    load_model(f"{factories}:module")
    assert sys.path == before


def test_the_factory_of_efficientnet_lite(install, tmp_path, monkeypatch):
    layers = nn.Sequential(nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(12, 3))
    known = {"efficientnet-lite0": layers}
    install("efficientnet_lite_pytorch", EfficientNet=ModuleType("EfficientNet"))
    sys.modules["efficientnet_lite_pytorch"].EfficientNet.from_name = known.__getitem__
    monkeypatch.setenv("SEPARATRIX_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"No weights efficientnet-lite0-\*\.pth in .*\. Set SEPARATRIX_DATA"):
        load_model("examples.efficientnet_lite:lite0")
    (tmp_path / "efficientnet-lite").mkdir()
    torch.save(layers.state_dict(), tmp_path / "efficientnet-lite" / "efficientnet-lite0-1234.pth")
    model = load_model("examples.efficientnet_lite:lite0")
    assert_close(model(PICTURES), layers((255 * PICTURES - 127) / 128))


FORMS = r"`spec` must be 'zoo:<architecture>@<weights>', 'timm:<name>', .* or '<package\.module>:<factory>'"
REFUSED = {
    "nothing": ("", FORMS + "; got ''"),
    "no text": (None, FORMS + "; got None"),
    "a bare name": ("resnet18", FORMS + "; got 'resnet18'"),
    "a path": ("weights/lenet.safetensors", FORMS),
    "no name": ("timm:", FORMS),
    "not Python": ("my-module:net", FORMS + "; got 'my-module:net'"),
    "another network": ("zoo:lenet-5@net.safetensors", r"`spec` must be 'zoo:' and one of lenet, smooth-lenet, "),
    "no weights": ("zoo:lenet", r"name weights, 'zoo:<architecture>@<weights>'; got 'zoo:lenet'\. For random weights"),
    "no module": ("no_such_package.nets:lenet", FORMS + r"; got 'no_such_package.nets:lenet': no module no_such_pack"),
    "no module within": ("separatrix.nothing:net", FORMS + r"; got .*: no module separatrix\.nothing\."),
    "no factory": ("separatrix.models:lenet5", r"name something in separatrix\.models; got separatrix\.models:lenet5"),
    "no function": ("separatrix.models:ZOO", "name something to call; got separatrix.models:ZOO, mappingproxy"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_names_no_model_is_refused(case):
    spec, message = REFUSED[case]
    with pytest.raises(ValueError, match=message) as refusal:
        load_model(spec)
    assert "\n" not in str(refusal.value)


def test_factories_of_other_things_are_refused(factories):
    with pytest.raises(ValueError, match=rf"a factory of a torch\.nn\.Module; got Tensor from {factories}:numbers"):
        load_model(f"{factories}:numbers")
    with pytest.raises(ValueError, match="`pretrained` must be True for a factory"):
        load_model(f"{factories}:module", pretrained=False)


def test_what_goes_wrong_in_a_factory_is_its_own(factories):
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        load_model(f"{factories}:broken")


def test_a_module_that_does_not_import_is_not_called_absent(here):
    (here / "half_installed.py").write_text("import no_such_library\n")
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        load_model("half_installed:net")


def test_weights_and_cards_that_do_not_fit_are_refused(here):
    saved(here, card=Card("lenet"))
    with pytest.raises(FileNotFoundError, match=r"No weights at none\.safetensors"):
        load_model("zoo:lenet@none.safetensors")
    with pytest.raises(ValueError, match="`spec` must name the architecture of the weights, lenet; got mlp"):
        load_model("zoo:mlp@net.safetensors")
    with pytest.raises(ValueError, match="name no weights when `pretrained` is False"):
        load_model("zoo:lenet@net.safetensors", pretrained=False)
    for content, message in (
        ("{", r"net\.json must be JSON: "),
        ("[1]", r"net\.json` must hold a JSON object; got list"),
    ):
        (here / "net.json").write_text(content)
        with pytest.raises(ValueError, match=message):
            load_model("zoo:lenet@net.safetensors")


@pytest.mark.usefixtures("absent")
@pytest.mark.parametrize(
    ("spec", "advice"),
    [
        ("timm:resnet18", r"timm: pip install 'separatrix\[timm\]'"),
        ("torchvision:resnet18", r"torchvision: pip install 'separatrix\[torchvision\]'"),
        ("hf:lab/net", r"transformers: pip install 'separatrix\[huggingface\]'"),
    ],
)
def test_absent_libraries_are_named(spec, advice):
    with pytest.raises(ImportError, match=rf"Such models need {advice}"):
        load_model(spec)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("raise RuntimeError('operator torchvision::nms does not exist\\nmore')", "does not import: operator torchvi"),
        ("import no_such_library", "timm is installed, but needs no_such_library"),
        ("raise ImportError('cannot import name')", "timm is installed, but does not import: cannot import name"),
    ],
)
def test_libraries_that_do_not_import_are_named(here, monkeypatch, source, message):
    monkeypatch.delitem(sys.modules, "timm", raising=False)
    monkeypatch.syspath_prepend(here)
    (here / "timm.py").write_text(source)
    with pytest.raises(ImportError, match=message) as refusal:
        load_model("timm:resnet18")
    assert "\n" not in str(refusal.value)


@pytest.mark.usefixtures("timm", "torchvision", "transformers")
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("timm:resnet0", r"that can be loaded; got 'timm:resnet0': Unknown model \(resnet0\)"),
        ("timm:resnet18.bare", r"whose mean and std timm knows; got one without\. Give `mean` and `std`\."),
        ("torchvision:resnet0", "that can be loaded; got 'torchvision:resnet0': Unknown model resnet0"),
        ("torchvision:resnet18@V9", "that can be loaded; got 'torchvision:resnet18@V9': 'V9'"),
        (
            "hf:no/such",
            "that can be loaded; got 'hf:no/such': no/such is not a local folder and is not a valid model identifier",
        ),
        (
            "hf:no/processor",
            r"that can be loaded; got 'hf:no/processor': no preprocessor_config\.json Or give `mean` and `std`\.",
        ),
    ],
)
def test_names_that_a_library_does_not_know_are_refused_in_one_line(spec, message):
    with pytest.raises(ValueError, match="`spec` must name a model " + message) as refusal:
        load_model(spec)
    assert "\n" not in str(refusal.value)


@pytest.mark.usefixtures("timm", "transformers")
@pytest.mark.parametrize("spec", ["timm:resnet18.bare", "hf:no/processor"])
def test_units_that_are_given_are_not_asked_for(spec):
    assert load_model(spec, mean=0.5, std=0.5).mean == 0.5
