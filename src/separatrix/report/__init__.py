"""The report of a run: one HTML file that opens from disk, made from tables alone.

A section tells of one table; the page around it, its figures in light and dark, and the words about what is missing
come with it.
"""

from separatrix.report.page import write_report as write_report
from separatrix.report.sections import SECTIONS as SECTIONS
from separatrix.report.shown import Shown as Shown
from separatrix.report.told import Bar as Bar
from separatrix.report.told import Card as Card
from separatrix.report.told import Figure as Figure
from separatrix.report.told import Gallery as Gallery
from separatrix.report.told import Picture as Picture
from separatrix.report.told import Point as Point
from separatrix.report.told import Section as Section
from separatrix.report.told import Table as Table
from separatrix.report.told import Tile as Tile
from separatrix.report.told import Told as Told
