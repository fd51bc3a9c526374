"""One section for each question, in the order of the page."""

from separatrix.report.sections.audit import AUDIT
from separatrix.report.sections.bands import BANDS
from separatrix.report.sections.directions import DIRECTIONS
from separatrix.report.sections.margins import MARGINS
from separatrix.report.sections.robustness import ROBUSTNESS
from separatrix.report.told import Section

SECTIONS: tuple[Section, ...] = (AUDIT, MARGINS, BANDS, DIRECTIONS, ROBUSTNESS)
