import re
from pathlib import Path

import pytest
import torch
from benchmarks import table
from torch import nn

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


def test_the_ten_lines_run_as_they_stand(capsys):
    example, *_ = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    network = nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, 10))
    names = {"network": network}
    exec(example, names)
    assert names["boundary"].found.all()
    assert torch.equal(names["boundary"].ids, names["data"].ids)
    assert "1,000" in capsys.readouterr().out.replace("1000", "1,000")


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#:]+)\)", README))
def test_what_the_readme_points_to_is_there(target):
    assert (Path(__file__).parent.parent / target).exists()


QUOTED = table.quoted()


@pytest.mark.parametrize(("file", "name"), list(QUOTED))
def test_the_tables_in_readme_and_docs_are_those_of_the_stored_runs(file, name):
    text = (Path(__file__).parent.parent / file).read_text("utf-8")
    assert table.framed(name, QUOTED[file, name]) in text
