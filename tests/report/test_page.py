"""Pages as text: what they hold, what they say of what is missing, and that nothing in them is taken for HTML."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import torch
from matplotlib.axes import Axes
from tests.report.conftest import EVIL
from tests.report.made import COLUMNS, World

from separatrix.report import SECTIONS, Figure, Section, Table, Told, write_report
from separatrix.report.numbers import percents, share_of
from separatrix.runs import Part, Unit, carry_out, open_run
from separatrix.tables import Column, as_table

SPOILT = "could not be made"


class Page(HTMLParser):
    """The elements of a page, and what is wrong with them."""

    VOID = ("meta", "link", "img", "br")

    def __init__(self, text):
        super().__init__()
        self.names, self.ids, self.open, self.attributes, self.words = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += [(tag, *entry) for entry in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).replace("\u00a0", " ").split())


def page(runs, tmp_path, sections=SECTIONS):
    path = write_report(runs, tmp_path / "pages" / "report.html", sections)
    return path.read_text("utf-8")


def test_a_page_is_whole_and_asks_for_nothing(whole):
    text = whole.read_text("utf-8")
    read = Page(text)
    assert SPOILT not in text
    assert len(read.ids) == len(set(read.ids))
    assert read.names.count("main") == read.names.count("h1") == 1
    assert read.names.count("svg") >= 2 * 8
    addresses = [value for _, name, value in read.attributes if name in ("src", "href", "xlink:href", "action")]
    assert all(value.startswith(("#", "data:")) for value in addresses)
    assert not re.search(r"url\((?!#)", text)
    for section in SECTIONS:
        assert f'data-question="{section.question}"' in text
    for words in ("upper bound", "95 % interval", "240 samples", "complete", "without a box", "ab" * 32):
        assert words in read.text


def test_every_picture_and_drawing_has_words(whole):
    read = Page(whole.read_text("utf-8"))
    described = [value for tag, name, value in read.attributes if (tag, name) == ("img", "alt") and value]
    assert read.names.count("img") == len(described) > 0
    labelled = [value for tag, name, value in read.attributes if tag == "svg" and name == "aria-label"]
    assert len(labelled) == read.names.count("svg")
    assert read.names.count("table") == read.names.count("caption") + read.text.count("answered class beyond distance")


def test_the_same_run_makes_the_same_page(carry, tmp_path, small):
    run = carry(world=small)
    assert page([run], tmp_path) == page([run], tmp_path)


def test_two_runs_stand_beside_each_other(carry, tmp_path, small):
    runs = [carry("a", small), carry("b", replace(small, strength=1.4, model="lenet, adversarial"))]
    text = page(runs, tmp_path)
    read = Page(text)
    assert SPOILT not in text
    for words in (
        "lenet/sample and lenet, adversarial",
        "difference B − A",
        "B: lenet, adversarial",
        "of the same data",
    ):
        assert words in read.text
    assert "other samples" not in read.text


def test_runs_on_other_data_have_no_differences(carry, tmp_path, small):
    read = Page(page([carry("a", small), carry("b", replace(small, data="ef" * 32))], tmp_path))
    assert "other samples" in read.text
    assert "different data" in read.text


def test_what_is_not_finished_is_said(carry, tmp_path):
    read = Page(page([carry(share=0.5)], tmp_path))
    assert "10 of 21 units done" in read.text
    assert "Partial: 1 of 4 units are done" in read.text
    assert "No rows yet: 0 of 4 units are done." in read.text


def test_failed_checks_stand_before_all_numbers(carry, tmp_path, small):
    text = page([carry(world=replace(small, questions=("audit", "margins")))], tmp_path)
    read = Page(text)
    warned = read.text.index("Warning. 1 of ")
    assert "checks failed, and the numbers below are doubtful: The same answer alone and in a batch." in read.text
    assert warned < read.text.index("Half of 60 samples")
    assert re.search(r'class="value alarm"><span aria-hidden="true">✕</span> 1</span>', text)


def test_without_a_failure_there_is_no_warning(carry, tmp_path, small):
    text = page([carry(world=replace(small, faulty=(), questions=("audit", "margins")))], tmp_path)
    assert 'class="warning"' not in text
    assert 'class="value alarm"' not in text
    assert "checks of model and measurements passed." in Page(text).text


def test_a_model_that_is_still_to_be_audited_has_passed_nothing(carry, tmp_path, small):
    world = replace(small, questions=("margins", "audit"))
    read = Page(page([carry("part", world, share=0.75)], tmp_path))
    assert "Not audited yet" in read.text
    assert "checks failed – not audited yet" in read.text
    assert "checks of" not in read.text
    unasked = Page(page([carry("unasked", small)], tmp_path))
    assert re.search(r"The model was not audited\. All \d+ checks of measurements passed\.", unasked.text)


def test_checks_of_half_a_run_have_passed_so_far(carry, tmp_path, small):
    world = replace(small, faulty=(), questions=("audit", "margins"))
    assert "checks of model and measurements made so far passed." in Page(page([carry("x", world, 0.8)], tmp_path)).text


@pytest.mark.parametrize(("scaled", "pictures"), [(True, 3), (False, 2)])
def test_without_bounds_the_image_beyond_needs_a_scale(carry, tmp_path, small, scaled, pictures):
    text = page([carry(world=replace(small, bounds=None, scaled=scaled))], tmp_path)
    card = re.search(r'<div class="pictures">(.*?)</div>', text)[1]
    assert card.count("<img") == pictures
    assert ("in the image beyond it has its true size" in text) == scaled
    assert ("the image beyond the boundary is not drawn" in text) != scaled


@pytest.mark.parametrize(
    ("shape", "words"), [((6,), "input 6 dimensions"), ((1, 28, 28), "input 1 × 28 × 28 = 784 dimensions")]
)
def test_dimensions_are_whole_numbers(tmp_path, shape, words):
    assert words in Page(page([open_run(tmp_path / "run", {"shape": list(shape)})], tmp_path)).text


@pytest.mark.parametrize(
    ("check", "planned", "words"),
    [
        (
            "differentiable",
            False,
            "Not asked in this run. Questions that need gradients cannot be asked of this model:",
        ),
        ("accepted", False, "Not asked in this run. The audit shows why; the model is not one that can be measured:"),
        ("accepted", True, "Not asked. The audit shows why; the model is not one that can be measured: Seen."),
        ("eval mode", True, "No rows yet: 0 of 1 units are done."),
    ],
)
def test_why_nothing_was_asked_is_said(carry, tmp_path, small, check, planned, words):
    class Refused(World):
        def work(self, unit):
            evidence = {"check": [check], "passed": [False], "evidence": ["Seen."], "value": [1.0], "limit": [0.0]}
            columns = [Column(name, "label") for name in ("id", *evidence)]
            return Part({unit.name: as_table(columns, {"id": [-1], **evidence}, 1)})

    world = Refused(samples=5, questions=("audit", "margins"))
    run = open_run(tmp_path / "run", world.config())
    units = [unit for unit in world.units() if unit.name == "audit" or (planned and unit.name == "margins")]
    run = carry_out(run, units[:1], world.work, plan=units)
    assert words in Page(page([run], tmp_path)).text


def test_bands_of_what_is_no_picture_are_not_asked(carry, tmp_path, small):
    text = page([carry(world=replace(small, shape=(12,), pictures=False))], tmp_path)
    assert "Not asked in this run. The points are no pictures, which it may need." in text
    assert "no pictures, which" not in page([carry("pictures", small)], tmp_path)


class Unreached(World):
    """No boundary anywhere."""

    def margins_of(self, ids):
        own, l2 = super().margins_of(ids)
        return own, np.full_like(l2, np.inf)


def test_where_no_boundary_was_found_words_stand_for_drawings(carry, tmp_path):
    text = page([carry(world=Unreached(samples=60, pictures=False))], tmp_path)
    read = Page(text)
    assert SPOILT not in text
    assert "In ℓ2 no boundary was found for any of the 60 samples" in read.text
    assert 'id="margins-l2"' not in text
    assert 'id="classes-l2"' not in text
    for words in ("Dashed: the median.", ": 0 samples", "0 to 1.00", "nearest in band", "Too few samples"):
        assert words not in read.text
    assert "In no band of frequencies was a boundary found for half of the samples." in read.text
    assert re.search(r"No boundary was found in random subspaces of \d+ dimensions for half of the samples", read.text)


def test_a_dashed_line_is_told_of_where_it_is_drawn(whole, carry, tmp_path, small):
    class Half(World):
        def margins_of(self, ids):
            own, l2 = super().margins_of(ids)
            return own, np.where(ids % 3 == 0, l2, np.inf)

    assert "Dashed: the median." in whole.read_text("utf-8")
    text = page([carry(world=Half(samples=60, questions=("margins",), pictures=False))], tmp_path)
    assert 'id="margins-l2"' in text
    assert "Dashed: the median." not in text


def test_curves_begin_at_accuracy_and_say_their_radii(carry, tmp_path):
    class Pixels(World):
        """Radii as a survey asks them: none of them 0."""

        def work(self, unit):
            part = super().work(unit)
            if unit.name != "robustness":
                return part
            table = part.tables["robustness"]
            rows = table.to_pydict()
            linf = max(radius for radius, norm in zip(rows["radius"], rows["norm"], strict=True) if norm == "ℓ∞")
            rows["radius"] = [
                (1 + r / linf * 3) / 255 if n == "ℓ∞" else 1 + r
                for r, n in zip(rows["radius"], rows["norm"], strict=True)
            ]
            return Part({"robustness": as_table(COLUMNS["robustness"], rows, table.num_rows)})

    read = Page(
        page([carry("with", Pixels(samples=60, questions=("margins", "robustness"), pictures=False))], tmp_path)
    )
    right = percents(share_of((np.arange(60) % 9 != 4).astype(float)))
    assert f"bound from margins 0 {right} {right} {right}" in read.text
    assert "0.00980 (2.5/255)" in read.text
    assert "Dotted: the bound from margins." in read.text
    alone = Page(page([carry("alone", Pixels(samples=60, questions=("robustness",)))], tmp_path))
    assert "Dotted" not in alone.text


def test_bands_are_counted_as_they_are(whole):
    text = Page(whole.read_text("utf-8")).text
    assert re.search(r"nearest in band \d+, of 14 from 0 \(the lowest\) to 13 \(the highest\)", text)
    assert "16.0" not in text


def test_a_run_without_any_unit_is_a_page(tmp_path):
    text = page([open_run(tmp_path / "empty", {})], tmp_path)
    assert SPOILT not in text
    assert "Not asked in this run." in text
    assert "nothing done yet" in text


def test_what_chance_predicts_is_of_the_same_samples(carry, tmp_path):
    """The first 60 samples are nearer than the others: all of them together would predict too much."""

    class Uneven(World):
        def margins_of(self, ids):
            own, l2 = super().margins_of(ids)
            return own, np.where(ids < 60, l2, 9 * l2)

    questions = ("margins", "bands", "directions")
    uneven, alone = Uneven(questions=questions, few=60), World(questions=questions, samples=60)
    said = [_times_chance(page([carry(str(n), world)], tmp_path)) for n, world in enumerate((uneven, alone))]
    assert len(said[0]) >= 2
    assert said[0] == said[1]


def test_without_the_margins_of_all_samples_chance_predicts_nothing(carry, tmp_path):
    world = World(questions=("bands", "directions", "margins"))
    assert _times_chance(page([carry("most", world, share=0.9)], tmp_path)) == []
    assert _times_chance(page([carry("all", world)], tmp_path))


def _times_chance(text):
    return sorted(set(re.findall(r"\S+ times what chance predicts", Page(text).text)))


def test_points_that_are_no_pictures_are_listed(carry, tmp_path, small):
    text = page([carry(world=replace(small, shape=(12,), pictures=False))], tmp_path)
    assert SPOILT not in text
    assert "<img" not in text
    assert "There are no pictures of them in the run." in text


@pytest.mark.parametrize("strengths", [(1.0,), (1.0, 2.0)])
def test_names_are_never_html(carry, tmp_path, hostile, strengths):
    worlds = [replace(hostile, strength=strength, questions=("audit", "margins")) for strength in strengths]
    text = page([carry(f"{world.strength}", world) for world in worlds], tmp_path)
    read = Page(text)
    assert SPOILT not in text
    assert EVIL not in text
    assert "window.hacked=1" in read.text
    assert read.names.count("script") == 2
    assert not [name for _, name, _ in read.attributes if name.startswith("on")]
    assert all(value.startswith("data:") for tag, name, value in read.attributes if (tag, name) == ("img", "src"))


def test_huge_pictures_are_reduced(carry, tmp_path, small):
    class Huge(World):
        def drawn(self, ids):
            start = torch.randint(0, 255, (2, 3, 500, 300), dtype=torch.uint8)
            return {
                "id": torch.from_numpy(ids[:2].copy()),
                "start": start,
                "l2_added": torch.full(start.shape, torch.nan, dtype=torch.float16),
                "linf_added": torch.zeros(start.shape, dtype=torch.float16),
            }

    text = page([carry(world=Huge(samples=60, size=30, questions=("margins",)))], tmp_path)
    assert SPOILT not in text
    assert "data:image/webp" in text
    assert len(text) < 1_500_000


def test_strange_tables_spoil_no_page(tmp_path):
    columns = [Column(name, "estimate") for name in ("id", "own", "l2", "l2_found", "l2_rival")]
    strange = {
        "id": np.array(["a", "b", "7"]),
        "own": np.array([np.nan, -3.0, 1e9]),
        "l2": np.array([np.nan, -1.0, np.inf]),
        "l2_found": np.array(["yes", "no", "1"]),
        "l2_rival": np.array([0, 1, 2]),
    }
    text = page([_run_of(tmp_path, "margins", as_table(columns, strange, 3))], tmp_path)
    assert SPOILT not in text
    assert "No boundary was found for half" in text


@pytest.mark.parametrize("name", ["margins", "bands", "directions", "robustness", "audit", "samples", "controls"])
def test_a_table_of_other_columns_costs_one_section_at_most(tmp_path, name):
    text = page([_run_of(tmp_path, name, as_table([Column("x", "estimate")], {"x": np.arange(2)}, 2))], tmp_path)
    assert text.count(SPOILT) <= 1
    assert "Provenance" in text


def _run_of(tmp_path, name, table):
    unit = Unit(name, "model", "config", (0, 1, 2))
    return carry_out(open_run(tmp_path / name, {"classes": ["one"]}), [unit], lambda _: Part({name: table}))


def test_long_tables_are_cut_and_say_so(tmp_path, carry, small):
    rows = Section("margins", "Long", lambda _: Told(tables=(Table("Rows", ("n",), tuple((n,) for n in range(1234))),)))
    read = Page(page([carry(world=small)], tmp_path, (rows,)))
    assert "Rows (the first 300 of 1,234 rows)" in read.text


def test_a_section_that_fails_is_told_and_spoils_no_other(tmp_path, carry, small):
    def draw(axes: Axes):
        raise RuntimeError("no ink")

    figure = Figure("broken", "Broken", "nothing", draw, Table("none", ("n",), ()))
    sections = (Section("margins", "Mine", lambda _: Told(figures=(figure,))), *SECTIONS)
    text = page([carry(world=small)], tmp_path, sections)
    assert text.count(SPOILT) == 1
    assert "RuntimeError: no ink" in text
    assert 'id="margins-l2"' in text


def test_a_report_is_of_one_run_or_two(tmp_path, carry, small):
    run = carry(world=small)
    for runs in ([], [run] * 3):
        with pytest.raises(ValueError, match="`runs` must be one run, or two to compare"):
            write_report(runs, tmp_path / "report.html")


def test_few_samples_are_not_told_by_class(carry, tmp_path, small):
    text = page([carry(world=replace(small, samples=12))], tmp_path)
    assert SPOILT not in text
    assert 'id="classes-l2"' not in text
    assert "Too few samples for margins by class" in text
