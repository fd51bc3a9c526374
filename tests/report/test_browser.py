"""Pages in a browser: opened from disk, without a network, by mouse and by keyboard, light, dark and narrow."""

import shutil
from dataclasses import replace

import pytest
from tests.report.made import World, carried

from separatrix.report import write_report

pytestmark = pytest.mark.browser

CHROMIUM = "/usr/bin/chromium"
SWITCHES = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
CONTRAST = """() => {
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const channels = (colour) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = colour;
    paint.fillRect(0, 0, 1, 1);
    return [...paint.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => channels(colour).slice(0, 3)
    .map((value) => value / 255).map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, place) => sum + value * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (channels(colour)[3] === 255) return colour;
    }
    return "white";
  };
  const found = [];
  for (const element of document.querySelectorAll("main *, header *, footer *")) {
    const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!text || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(element.closest("svg") ? style.fill : style.color), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push([element.tagName, element.textContent.trim().slice(0, 40), ratio]);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def browser():
    if not shutil.which(CHROMIUM):
        pytest.skip(f"there is no {CHROMIUM}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser):
    """Opens a page from disk; what it asks the network for, or complains of, fails the test at its end."""
    contexts, complaints = [], []

    def opened(path, width=1100, height=900, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(request.url) if _outside(request.url) else None)
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def _outside(url):
    return not url.startswith(("file:", "data:"))


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared")
    world = World(samples=120)
    runs = [carried(folder / "a", world), carried(folder / "b", replace(world, strength=1.5, model="defended"))]
    return write_report(runs, folder / "report.html")


def overflow(page):
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def place_of(page, figure, bar):
    box = page.locator(f"#{figure} .wide [data-bar='{bar}']").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_every_figure_is_seen(whole, visit):
    page = visit(whole)
    for figure in page.locator("figure.drawing").all():
        box = figure.locator(".wide svg").bounding_box()
        assert box["width"] > 600
        assert box["height"] > 150
        assert not figure.locator(".narrow svg").is_visible()
    assert page.locator("figure.drawing").count() == 9
    assert page.locator("img").evaluate_all("images => images.every(image => image.naturalWidth > 0)")


@pytest.mark.parametrize("figure", ["margins-l2", "margins-linf"])
def test_a_bar_shows_its_samples_and_keeps_them_when_clicked(whole, visit, figure):
    page = visit(whole)
    page.locator(f"#{figure}").scroll_into_view_if_needed()
    range_, cards = page.locator(f"#{figure} .range"), page.locator(f"#{figure} .cards")
    before = range_.inner_text(), cards.inner_html()
    page.mouse.move(*place_of(page, figure, 4))
    hovered = range_.inner_text(), cards.inner_html()
    assert hovered[0] != before[0]
    assert hovered[1] != before[1]
    assert 0 < page.locator(f"#{figure} .card").count() <= 6
    assert page.locator(f"#{figure} .card img").count() == 3 * page.locator(f"#{figure} .card").count()
    page.mouse.move(2, 2)
    assert (range_.inner_text(), cards.inner_text()) == (before[0], cards.inner_text())
    page.mouse.click(*place_of(page, figure, 4))
    page.mouse.move(2, 2)
    assert (range_.inner_text(), cards.inner_html()) == hovered
    assert page.locator(f"#{figure} .wide [aria-pressed=true]").get_attribute("data-bar") == "4"


def test_bars_are_reached_by_keyboard(whole, visit):
    page = visit(whole)
    bars = page.locator("#margins-l2 .wide [data-bar]")
    assert page.locator("#margins-l2 .wide [tabindex='0']").count() == 1
    page.locator("#margins-l2 .wide [tabindex='0']").focus()
    for key, bar in (("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", bars.count() - 1)):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.bar") == str(bar)
        name = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert page.locator("#margins-l2 .range").inner_text() == name
    outline = page.evaluate("getComputedStyle(document.activeElement.querySelector('path')).strokeWidth")
    assert outline == "2.5px"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(whole, visit, scheme):
    page = visit(whole, scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true })")
    assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_failed_checks_look_unlike_other_numbers(whole, visit, scheme):
    page = visit(whole, scheme=scheme)
    colour = "element => getComputedStyle(element).color"
    alarm, plain = (page.locator(f".tiles {name}").first.evaluate(colour) for name in (".alarm", ".run-a"))
    assert alarm != plain
    assert page.locator(".warning").bounding_box()["y"] < page.locator(".headline").bounding_box()["y"]
    page.locator(".warning a").click()
    assert page.evaluate("location.hash") == "#section-1"


def test_light_and_dark_follow_the_reader(whole, visit):
    paper = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('#margins-l2 .wide text')).fill"
    light, dark = visit(whole), visit(whole, scheme="dark")
    seen = [(page.evaluate(paper), page.evaluate(ink)) for page in (light, dark)]
    assert seen[0][0] != seen[1][0]
    assert seen[0][1] != seen[1][1]
    for page, other in ((light, seen[1]), (dark, seen[0])):
        page.locator("#theme").click()
        assert (page.evaluate(paper), page.evaluate(ink)) == other


@pytest.mark.parametrize("width", [360, 700, 1100])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_reaches_over_the_edge(whole, compared, visit, width, scheme):
    for path in (whole, compared):
        page = visit(path, width=width, scheme=scheme)
        page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true })")
        assert overflow(page) == 0
        shown = ".narrow" if width < 576 else ".wide"
        assert page.locator(f"figure.drawing {shown} svg").first.is_visible()


def test_two_runs_share_their_bars(compared, visit):
    page = visit(compared)
    page.locator("#margins-l2").scroll_into_view_if_needed()
    page.mouse.click(*place_of(page, "margins-l2", 2))
    text = page.locator("#margins-l2 .cards").inner_text()
    assert "A, sample" in text
    assert "B, sample" in text


def test_hostile_names_do_nothing(hostile, tmp_path, visit):
    page = visit(write_report([carried(tmp_path / "run", hostile)], tmp_path / "report.html"))
    for bar in range(5):
        page.locator("#margins-l2").scroll_into_view_if_needed()
        page.mouse.click(*place_of(page, "margins-l2", bar))
    assert page.evaluate("window.hacked") is None
    assert overflow(page) == 0


def test_samples_without_pictures_are_lines_of_a_table(tmp_path, visit):
    world = World(samples=60, shape=(12,), pictures=False, questions=("margins",))
    page = visit(write_report([carried(tmp_path / "run", world)], tmp_path / "report.html"), width=360)
    page.locator("#margins-l2").scroll_into_view_if_needed()
    page.locator("#margins-l2 .narrow [data-bar='2']").click()
    assert 0 < page.locator("#margins-l2 .cards tbody tr").count() <= 10
    assert overflow(page) == 0


def test_printed_it_is_whole(whole, visit):
    page = visit(whole)
    page.emulate_media(media="print")
    assert not page.locator("#theme").is_visible()
    assert page.locator("#margins-l2 .wide svg").is_visible()
    assert len(page.pdf()) > 50_000


def test_a_hundred_thousand_samples_open_at_once(tmp_path, visit):
    world = World(samples=100_000, size=10_000, questions=("margins",))
    path = write_report([carried(tmp_path / "run", world)], tmp_path / "report.html")
    assert path.stat().st_size < 4e6
    page = visit(path)
    assert page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") < 2000
    assert "100,000 samples" in page.locator(".headline").inner_text()
