"""Studies: the tables and figures of the source documents, made again, each with its claim as a test."""

from collections.abc import Mapping
from types import MappingProxyType

from separatrix.studies.deepfool import ACCURACY, BANDS
from separatrix.studies.features import RANDOM_BASIS, SPECTRUM, SYNTHETIC
from separatrix.studies.laboratory import Laboratory as Laboratory
from separatrix.studies.laboratory import Needs as Needs
from separatrix.studies.laboratory import Samples as Samples
from separatrix.studies.ledger import write_ledger as write_ledger
from separatrix.studies.running import Finding as Finding
from separatrix.studies.running import run_study as run_study
from separatrix.studies.study import SCALES as SCALES
from separatrix.studies.study import Case as Case
from separatrix.studies.study import Measured as Measured
from separatrix.studies.study import Scale as Scale
from separatrix.studies.study import Study as Study
from separatrix.studies.verdicts import Outcome as Outcome
from separatrix.studies.verdicts import Verdict as Verdict
from separatrix.studies.watermark import WATERMARK

_ALL = (SYNTHETIC, SPECTRUM, RANDOM_BASIS, ACCURACY, BANDS, WATERMARK)
STUDIES: Mapping[str, Study] = MappingProxyType({study.name: study for study in _ALL})
"""All studies by name."""
