"""Other libraries' searches, one adapter each, run without a box.

A library that clips to [0, 1] and cannot be told otherwise sees the model through ``UnitBox``, whose box is so wide
that it never binds. Libraries are imported inside their adapters: a missing one is a row that says so.
"""

from __future__ import annotations

import logging
import math

import torch
from torch import Tensor, nn

from benchmarks.methods import FEW, Registry
from separatrix.norms import L2, Norm

WIDE = (-2.0, 3.0)
SPAN = WIDE[1] - WIDE[0]
PEERS = Registry()


class UnitBox(nn.Module):
    """A model in coordinates z = (x − low) / span, in which the unit box is ``WIDE``."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.eval()

    def forward(self, unit: Tensor) -> Tensor:
        """Logits at ``unit``."""
        return self.model(unit * SPAN + WIDE[0])


def unboxed(search, model: nn.Module, points: Tensor, own: Tensor, **settings) -> Tensor:
    """Run ``search(model, points, own)`` in the unit box; lengths among ``settings`` are in its units, 1 / SPAN."""
    unit = (points - WIDE[0]) / SPAN
    return search(UnitBox(model), unit, own, **settings) * SPAN + WIDE[0]


@PEERS.add("adv-lib DeepFool")
def _(model, points, own, norm):
    from adv_lib.attacks import df

    return unboxed(df, model, points, own, norm=norm.p)


@PEERS.add("adv-lib SuperDeepFool", norms=("l2",))
def _(model, points, own, norm):
    from adv_lib.attacks import sdf

    return unboxed(sdf, model, points, own)


@PEERS.add("adv-lib DDN-100", norms=("l2",))
def _(model, points, own, norm):
    return ddn(model, points, own, steps=100)


@PEERS.add("adv-lib DDN-1000", norms=("l2",), nets=("mnist-lenet", "mnist-lenet-robust"))
def _(model, points, own, norm):
    return ddn(model, points, own, steps=1000)


@PEERS.add("adv-lib ALMA-100", norms=("l2",))
def _(model, points, own, norm):
    return alma(model, points, own, steps=100)


@PEERS.add("adv-lib FMN-100")
def _(model, points, own, norm):
    return fmn(model, points, own, norm, steps=100, stride=0.03 if norm == L2 else 0.3)


@PEERS.add("adv-lib FAB-100", images=FEW)
def _(model, points, own, norm):
    return fab(model, points, own, norm, steps=100)


@PEERS.add("adv-lib TrustRegion", images=FEW)
def _(model, points, own, norm):
    from adv_lib.attacks import tr

    return unboxed(tr, model, points, own, adaptive=True, p=norm.p, iter=200)


@PEERS.add("Foolbox DeepFool")
def _(model, points, own, norm):
    from foolbox.attacks import L2DeepFoolAttack, LinfDeepFoolAttack

    return foolbox_run(L2DeepFoolAttack() if norm == L2 else LinfDeepFoolAttack(), model, points, own)


@PEERS.add("Foolbox DDN-100", norms=("l2",))
def _(model, points, own, norm):
    from foolbox.attacks import DDNAttack

    return foolbox_run(DDNAttack(steps=100), model, points, own)


@PEERS.add("Foolbox FMN-100")
def _(model, points, own, norm):
    from foolbox.attacks import L2FMNAttack, LInfFMNAttack  # the steps that did best: its ℓ2 projection does nothing

    attack = L2FMNAttack(steps=100, max_stepsize=0.1) if norm == L2 else LInfFMNAttack(steps=100, max_stepsize=0.3)
    return foolbox_run(attack, model, points, own)


@PEERS.add("Foolbox C&W 9×100", norms=("l2",), images=FEW, nets=("lenet", "mlp", "smooth-lenet"))
def _(model, points, own, norm):
    from foolbox.attacks import L2CarliniWagnerAttack

    attack = L2CarliniWagnerAttack(binary_search_steps=9, steps=100, initial_const=1.0, stepsize=0.02)
    return foolbox_run(attack, model, points, own)


@PEERS.add("torchattacks DeepFool", norms=("l2",), images=FEW)
def _(model, points, own, norm):
    from torchattacks import DeepFool

    return unboxed(lambda boxed, unit, labels: DeepFool(boxed)(unit, labels), model, points, own)


@PEERS.add("ART DeepFool, batches of 64", norms=("l2",), images=FEW)
def _(model, points, own, norm):
    return art_deepfool(model, points, batch=64)


@PEERS.add("ART DeepFool, one by one (default)", norms=("l2",), images=FEW)
def _(model, points, own, norm):
    return art_deepfool(model, points, batch=1)


@PEERS.add("SecML-Torch FMN-100", images=FEW)
def _(model, points, own, norm):
    return unboxed(secml_fmn, model, points, own, norm=norm)


def ddn(model: nn.Module, points: Tensor, own: Tensor, steps: int, first: float = SPAN, factor: float = 0.05) -> Tensor:
    """adversarial-library's DDN, from a radius ``first`` (its default is 1 in the unit box), changed by ``factor``."""
    from adv_lib.attacks import ddn as search

    return unboxed(search, model, points, own, steps=steps, γ=factor, init_norm=first / SPAN, levels=None)


def alma(model: nn.Module, points: Tensor, own: Tensor, steps: int, first: float = 0.1) -> Tensor:
    """adversarial-library's ℓ2 ALMA, with a first step of length ``first`` and the paper's smoothing for its steps."""
    from adv_lib.attacks import alma as search

    smoothing = 0.5 if steps <= 100 else 0.9
    settings = {"num_steps": steps, "distance": "l2", "init_lr_distance": first / SPAN, "α": smoothing}
    return unboxed(search, model, points, own, **settings)


def fmn(model: nn.Module, points: Tensor, own: Tensor, norm: Norm, steps: int, stride: float) -> Tensor:
    """adversarial-library's FMN, with a first step of length ``stride``: its default of 1 misses most images in ℓ2."""
    from adv_lib.attacks import fmn as search

    return unboxed(search, model, points, own, norm=norm.p, steps=steps, α_init=stride / SPAN)


def fab(model: nn.Module, points: Tensor, own: Tensor, norm: Norm, steps: int) -> Tensor:
    """adversarial-library's FAB."""
    from adv_lib.attacks import fab as search

    return unboxed(search, model, points, own, norm=norm.p, n_iter=steps)


def foolbox_run(attack, model: nn.Module, points: Tensor, own: Tensor) -> Tensor:
    """A Foolbox attack on the model's own answers, with bounds that never bind."""
    import foolbox

    wrapped = foolbox.PyTorchModel(model, bounds=WIDE, device=points.device)
    return attack.run(wrapped, points, foolbox.criteria.Misclassification(own))


def art_deepfool(model: nn.Module, points: Tensor, batch: int) -> Tensor:
    """ART's DeepFool with every other library's overshoot of 0.02, where its own default is 1e-6."""
    from art.attacks.evasion import DeepFool
    from art.estimators.classification import PyTorchClassifier

    logging.getLogger("art").setLevel(logging.ERROR)
    shape = tuple(points.shape[1:])
    device = "gpu" if points.is_cuda else "cpu"
    wrapped = PyTorchClassifier(model, nn.CrossEntropyLoss(), shape, nb_classes=10, device_type=device)
    attack = DeepFool(wrapped, max_iter=50, epsilon=0.02, nb_grads=10, batch_size=batch, verbose=False)
    return torch.from_numpy(attack.generate(points.cpu().numpy())).to(points.device)


def secml_fmn(model: nn.Module, points: Tensor, own: Tensor, norm: Norm) -> Tensor:
    """SecML-Torch's own FMN."""
    from secmlt.adv.backends import Backends
    from secmlt.adv.evasion.fmn import FMN
    from secmlt.adv.evasion.perturbation_models import LpPerturbationModels
    from secmlt.models.pytorch.base_pytorch_nn import BasePyTorchClassifier
    from torch.utils.data import DataLoader, TensorDataset

    shape = LpPerturbationModels.LINF if norm.p == math.inf else LpPerturbationModels.L2
    attack = FMN(perturbation_model=shape, num_steps=100, step_size=1 / SPAN, backend=Backends.NATIVE)
    batches = attack(BasePyTorchClassifier(model), DataLoader(TensorDataset(points, own), batch_size=len(points)))
    return torch.cat([batch[0] for batch in batches])
