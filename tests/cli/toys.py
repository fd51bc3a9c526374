"""The command in this process, a small task to train on, and a small study to run."""

from dataclasses import dataclass, replace

import numpy as np
from matplotlib.figure import Figure

from separatrix.cli import main
from separatrix.studies import Case, Measured, Needs, Study
from separatrix.studies.verdicts import above, bootstrap, median
from separatrix.tables import Column, as_table


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def complaint(self):
        """The one line on stderr, nothing being on stdout."""
        assert self.out == ""
        assert self.err.count("\n") == 1
        assert "Traceback" not in self.err
        return self.err.removeprefix("separatrix: ").rstrip("\n")


class Command:
    """Called with the words after ``separatrix``."""

    def __init__(self, capsys):
        self.capsys = capsys

    def __call__(self, *words):
        self.capsys.readouterr()
        code = main([str(word) for word in words])
        return Ended(code, *self.capsys.readouterr())


def pictures(count, seed):
    """Bright above or bright below, in noise."""
    labels = np.arange(count) % 2
    images = np.random.default_rng(seed).integers(0, 150, (count, 8, 8), dtype=np.uint8)
    images[labels == 0, :4] += 100
    images[labels == 1, 4:] += 100
    return images, labels


@dataclass(frozen=True)
class Dice:
    """How many dice are thrown."""

    dice: int


def throws(settings, _, case):
    die = int(case.settings["die"])
    eyes = np.random.default_rng(die).integers(1, 7, size=20)
    return Measured(as_table((Column("die", "label"), Column("eyes", "count")), {"die": die, "eyes": eyes}, 20))


def drawn(rows, pictures):
    figure = Figure(figsize=(1, 1))
    figure.subplots().plot(rows["eyes"])
    return figure


DICE = Study(
    name="games/dice",
    question="Do dice show more than one eye?",
    source="Hands, Table 7",
    published={"median": "3.5"},
    scales={"smoke": Dice(2), "default": Dice(3), "paper": Dice(4)},
    needs=lambda _: Needs({}, {}),
    cases=lambda settings, _: [Case("", {"die": die}) for die in range(settings.dice)],
    measure=throws,
    quantities=lambda rows: {"median": f"{median(rows['eyes']):g}", "throws": str(len(rows))},
    claims=lambda _, rows: [above("the median is above one", bootstrap(median, rows["eyes"]), 1)],
    draw=drawn,
    substitutes={"smoke": "fewer dice"},
    notes="Dice are cubes.",
)

LOADED = replace(
    DICE,
    name="games/loaded",
    claims=lambda _, rows: [above("the median is above six", bootstrap(median, rows["eyes"]), 6)],
)
