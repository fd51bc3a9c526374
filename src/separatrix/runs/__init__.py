"""Runs: folders of results that survive interruption, are continued by the same command, and can be merged.

A run knows no question: work is cut into units, and each leaves tables and tensors.
"""

from separatrix.runs.canonical import canonical as canonical
from separatrix.runs.canonical import differences as differences
from separatrix.runs.canonical import fingerprint as fingerprint
from separatrix.runs.canonical import plain as plain
from separatrix.runs.files import digest as digest
from separatrix.runs.files import write as write
from separatrix.runs.manifest import Manifest as Manifest
from separatrix.runs.manifest import Session as Session
from separatrix.runs.merging import merge_runs as merge_runs
from separatrix.runs.parts import Part as Part
from separatrix.runs.parts import Record as Record
from separatrix.runs.parts import Unit as Unit
from separatrix.runs.store import Run as Run
from separatrix.runs.store import open_run as open_run
from separatrix.runs.store import read_run as read_run
from separatrix.runs.units import Progress as Progress
from separatrix.runs.units import carry_out as carry_out
from separatrix.runs.units import carry_out_one as carry_out_one
