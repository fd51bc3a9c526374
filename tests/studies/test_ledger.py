"""The ledger that is in the repository is the one that its findings make."""

from pathlib import Path

import pytest

from separatrix.studies import STUDIES
from separatrix.studies.ledger import FOLDER, PAGE, page, read_findings

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def findings():
    return read_findings(DOCS / FOLDER)


def test_the_page_is_made_of_the_findings(findings):
    assert (DOCS / PAGE).read_text("utf-8") == page(findings)


def test_every_finding_is_of_a_study_that_there_is_and_has_its_figure(findings):
    assert {finding.study for finding in findings} == set(STUDIES)
    assert {path.stem for path in (DOCS / FOLDER).glob("*.png")} == {finding.slug for finding in findings}
