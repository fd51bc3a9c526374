"""The study that the docs show is one."""

import re
from pathlib import Path

import torch

from separatrix.models import network
from separatrix.studies import Laboratory, run_study

PAGE = (Path(__file__).parents[2] / "docs" / "studies.md").read_text("utf-8")


def test_the_study_in_the_docs_runs_as_it_stands(tmp_path, monkeypatch):
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names = {}
    exec(block, names)
    study = names["STUDY"]
    laboratory = Laboratory(study.needs(study.scales["smoke"]))
    untrained = network("lenet").eval()
    monkeypatch.setattr(Laboratory, "model", lambda *_: untrained)
    finding = run_study(study, "smoke", tmp_path / "run", laboratory=laboratory)
    assert finding.measured == {"ℓ2": "12 images", "ℓ∞": "12 images"}
    assert len(finding.outcomes) == 1
    assert not torch.is_inference_mode_enabled()
