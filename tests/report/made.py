"""Runs of surveys made by hand: the tables of every question, with plausible numbers and small pictures."""

from dataclasses import dataclass

import numpy as np
import torch

from separatrix.runs import Part, Unit, carry_out, open_run
from separatrix.tables import Column, as_table

CLASSES = ("T-shirt", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Boot")
PIXELS = "pixels in [0, 1]"


def _length(name, norm, meaning):
    return Column(name, "upper bound", PIXELS, norm, meaning)


def _plain(name, kind, meaning):
    return Column(name, kind, meaning=meaning)


ID = _plain("id", "identity", "Name of the sample.")
OWN = _plain("own", "label", "Class that the model answers.")


def _of_norm(name, norm):
    return (
        _length(name, norm, f"Length of the shortest {norm} change found that leads to another answer."),
        _plain(f"{name}_found", "flag", f"Whether a boundary was met in {norm}."),
        _plain(f"{name}_rival", "label", f"Class beyond the {norm} boundary."),
        _length(f"{name}_raw", norm, "The same length before refinement."),
        _plain(f"{name}_alignment", "estimate", "1 where the change is the shortest nearby."),
        _plain(f"{name}_again", "flag", "Whether the crossing, asked again alone, still has another answer."),
    )


COLUMNS = {
    "samples": (ID, _plain("label", "label", "True class of the sample.")),
    "audit": (
        ID,
        _plain("check", "label", "Name of the check."),
        _plain("value", "estimate", "What was found."),
        _plain("limit", "estimate", "What it must not exceed."),
        _plain("passed", "flag", "Whether it is as it should be."),
        _plain("evidence", "label", "What was seen, in words."),
    ),
    "margins": (
        ID,
        OWN,
        *_of_norm("l2", "ℓ2"),
        *_of_norm("linf", "ℓ∞"),
        _length("l2_linf", "ℓ∞", "ℓ∞ length of the ℓ2 change."),
        _length("linf_l2", "ℓ2", "ℓ2 length of the ℓ∞ change."),
        _plain("forwards", "count", "Evaluations of the model."),
        _plain("gradients", "count", "Gradients taken."),
    ),
    "bands": (
        ID,
        _plain("band", "identity", "Band of frequencies; 0 holds the lowest."),
        _plain("dim", "count", "Dimensions of the band."),
        _length("distance", "ℓ2", "Length of the shortest change found within the band."),
        _plain("found", "flag", "Whether a boundary was met within the band."),
    ),
    "directions": (
        ID,
        _plain("kind", "label", "Along one random direction, or within a random subspace."),
        _plain("dim", "count", "Dimensions that may change."),
        _plain("draw", "identity", "Number of the draw."),
        _length("distance", "ℓ2", "Length of the shortest change found."),
        _plain("found", "flag", "Whether a boundary was met."),
    ),
    "robustness": (
        ID,
        OWN,
        _plain("norm", "label", "Norm of the radius."),
        _plain("method", "label", "Attack."),
        Column("radius", "identity", PIXELS, "", "Size of the change that the attack may make."),
        _plain("fooled", "flag", "Whether the attack changed the answer."),
    ),
}
QUESTIONS = ("audit", "margins", "bands", "directions", "robustness")


@dataclass(frozen=True)
class World:
    """What a made-up survey found.

    Args:
        samples: How many samples there are.
        strength: What all margins are multiplied by.
        shape: Of a point.
        classes: Names of the classes.
        model: Name of the model.
        questions: Which tables there are.
        pictures: Whether the run keeps pictures.
        evidence: Of the check that failed.
        size: Samples in a unit.
        data: Hash of the data.
        bounds: Of the model.
        scaled: Whether pictures say what their black and white are.
        faulty: Checks of the audit that failed.
        few: How many samples bands and directions are asked about; all, where it is None.
    """

    samples: int = 240
    strength: float = 1.0
    shape: tuple[int, ...] = (1, 28, 28)
    classes: tuple[str, ...] = CLASSES
    model: str = "lenet/sample"
    questions: tuple[str, ...] = QUESTIONS
    pictures: bool = True
    evidence: str = "Largest difference of logits between batches: 3.1e-05."
    size: int = 60
    data: str = "cd" * 32
    few: int | None = None
    bounds: tuple[float, float] | None = (0.0, 1.0)
    scaled: bool = False
    faulty: tuple[str, ...] = ("batch invariance",)

    def config(self):
        return {
            "survey": 1,
            "version": "0.1.0",
            "model": {"name": self.model, "parameters": 61706},
            "data": {"name": "fashion-mnist test", "samples": 10_000},
            "samples": self.samples,
            "seed": 0,
            "shape": list(self.shape),
            "classes": list(self.classes),
            "bounds": self.bounds,
        }

    def units(self):
        names = ("samples", *self.questions)
        return [Unit(name, "model", "config", batch) for name in names for batch in self.batches(name)]

    def batches(self, name):
        if name == "audit":
            return [()]
        samples = self.samples if name not in ("bands", "directions") else self.few or self.samples
        return [tuple(range(start, min(start + self.size, samples))) for start in range(0, samples, self.size)]

    def work(self, unit):
        ids = np.array(unit.ids, dtype=np.int64)
        values = _MADE[unit.name](self, ids, np.random.default_rng([len(unit.name), *ids[:1].tolist()]))
        rows = len(values["id"])
        tensors = {"margins": self.drawn(ids)} if unit.name == "margins" and self.pictures else {}
        return Part({unit.name: as_table(COLUMNS[unit.name], values, rows)}, tensors)

    def drawn(self, ids):
        chosen = torch.from_numpy(ids[:: max(len(ids) // 24, 1)][:24].copy())
        generator = torch.Generator().manual_seed(int(ids[0]))
        draws = torch.rand(len(chosen), *self.shape, generator=generator)
        side = torch.linspace(-1, 1, self.shape[-1])
        blob = (-(side[None] ** 2 + side[:, None] ** 2) * 3).exp()
        start = (blob * (0.5 + 0.5 * draws) * 255).to(torch.uint8)
        added = (draws - 0.5).half() * 0.1
        scale = {"low": torch.full([len(chosen)], -2.0), "high": torch.full([len(chosen)], 3.0)} if self.scaled else {}
        return {"id": chosen, "start": start, "l2_added": added, "linf_added": added.sign() * 0.03, **scale}

    def margins_of(self, ids):
        """The same for the same ids in every world, times its strength."""
        draws = np.array([np.random.default_rng([7, name]).standard_normal() for name in ids.tolist()])
        own = self.labels(ids)
        own = np.where(ids % 9 == 4, (own + 2) % len(self.classes), own)
        nearness = 0.6 + 0.15 * own
        return own, self.strength * nearness * np.exp(0.55 * draws)

    def labels(self, ids):
        return (ids * 7) % len(self.classes)


def _samples(world, ids, _):
    return {"id": ids, "label": world.labels(ids)}


def _audit(world, _, __):
    checks = ["eval mode", "repeatability", "batch invariance", "logits", "bounds", "zero gradients"]
    return {
        "id": np.full(len(checks), -1),
        "check": np.array(checks),
        "value": np.linspace(0, 1e-4, len(checks)),
        "limit": np.full(len(checks), 1e-5),
        "passed": np.array([check not in world.faulty for check in checks]),
        "evidence": np.array([world.evidence] * len(checks)),
    }


def _margins(world, ids, random):
    own, l2 = world.margins_of(ids)
    found = ids % 97 != 13
    values = {"id": ids, "own": own, "forwards": 90, "gradients": 60, "l2_linf": l2 * 0.2, "linf_l2": l2 * 1.6}
    for name, scale in (("l2", 1.0), ("linf", 0.06)):
        distance = np.where(found, l2 * scale, np.inf)
        rival = (own + random.choice([1, 2, 4], len(ids), p=[0.6, 0.3, 0.1])) % len(world.classes)
        values |= {
            name: distance,
            f"{name}_found": found,
            f"{name}_rival": np.where(found, rival, -1),
            f"{name}_raw": distance * 1.02,
            f"{name}_alignment": np.where(found, 0.99, np.nan),
            f"{name}_again": found,
        }
    return values


def _bands(world, ids, random):
    band = np.tile(np.arange(14), len(ids))
    l2 = np.repeat(world.margins_of(ids)[1], 14)
    distance = l2 * (1.5 + 0.35 * band) * np.exp(0.1 * random.standard_normal(len(band)))
    found = distance < 12
    dim = 16 + 4 * band
    return {
        "id": np.repeat(ids, 14),
        "band": band,
        "dim": dim,
        "distance": np.where(found, distance, np.inf),
        "found": found,
    }


def _directions(world, ids, random):
    dims, draws = np.array([1, 1, 1, 8, 32, 128, 512]), np.array([0, 1, 2, 0, 0, 0, 0])
    count = len(dims)
    l2 = np.repeat(world.margins_of(ids)[1], count)
    dim = np.tile(dims, len(ids))
    distance = l2 * np.sqrt(784 / dim) * np.exp(0.2 * random.standard_normal(len(dim)))
    return {
        "id": np.repeat(ids, count),
        "kind": np.where(dim == 1, "random", "semi-random"),
        "dim": dim,
        "draw": np.tile(draws, len(ids)),
        "distance": distance,
        "found": np.isfinite(distance),
    }


def _robustness(world, ids, _):
    own, l2 = world.margins_of(ids)
    rows = {name: [] for name in ("id", "own", "norm", "method", "radius", "fooled")}
    for norm, scale in (("ℓ∞", 0.06), ("ℓ2", 1.0)):
        for method, power in (("FGSM", 0.75), ("PGD", 0.97)):
            for radius in np.linspace(0, 2.4 * scale, 7):
                settings = (ids, own, norm, method, radius, l2 * scale < power * radius)
                for name, value in zip(rows, settings, strict=True):
                    rows[name].append(value if np.ndim(value) else np.full(len(ids), value))
    return {name: np.concatenate(parts) for name, parts in rows.items()}


_MADE = {
    "samples": _samples,
    "audit": _audit,
    "margins": _margins,
    "bands": _bands,
    "directions": _directions,
    "robustness": _robustness,
}


def carried(folder, world, share=1.0):
    """The run of a world, or the first share of its units."""
    run = open_run(folder, world.config(), inputs={"model": "ab" * 32, "data": world.data}, seeds=[0])
    units = world.units()
    return carry_out(run, units[: int(len(units) * share)], world.work, plan=units)
