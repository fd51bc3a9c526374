"""Takes the README's picture of a report: `python docs/draw_report.py out/demo/report.html`.

Two windows side by side: the first screen, and the distribution of margins with the samples behind one bar. Needs
Debian's chromium.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).parent / "pictures" / "report.png"
OPTIONS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
WIDTH, HEIGHT, GAP = 820, 1010, 16
BAR = 3


def windows(page_file: Path) -> list[Image.Image]:
    """The page at its top, and at its first histogram."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=OPTIONS)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(page_file.resolve().as_uri())
        top = page.screenshot()
        figure = page.locator("section[data-question=margins] figure").first
        figure.scroll_into_view_if_needed()
        figure.evaluate("figure => window.scrollTo(0, figure.getBoundingClientRect().top + window.scrollY - 60)")
        figure.locator(f"[data-bar='{BAR}']:visible").first.click(force=True)
        margins = page.screenshot()
        browser.close()
    return [Image.open(io.BytesIO(shot)) for shot in (top, margins)]


def main(page_file: Path) -> None:
    """Put both windows side by side."""
    left, right = windows(page_file)
    picture = Image.new("RGB", (2 * WIDTH + GAP, HEIGHT), "#d8d5ce")
    picture.paste(left, (0, 0))
    picture.paste(right, (WIDTH + GAP, 0))
    picture.quantize(128, dither=Image.Dither.NONE).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
