import pytest
import torch
from torch import nn

from separatrix.data import DataSet
from separatrix.training import accuracy


class Answers(nn.Module):
    """Answers the class that the only coordinate names."""

    def forward(self, points):
        return nn.functional.one_hot(points[:, 0].long(), 4).float()


def named(answers, labels):
    points = torch.tensor(answers, dtype=torch.float32)[:, None]
    return DataSet(points, torch.tensor(labels), torch.arange(len(labels)), tuple("abcd"), "made")


@pytest.mark.parametrize("batch_size", [1, 2, 5, 500])
def test_the_share_of_labels_answered_whatever_the_batches(batch_size):
    assert accuracy(Answers().eval(), named([0, 1, 2, 3, 0], [0, 1, 1, 3, 1]), batch_size=batch_size) == 0.6


def test_a_model_in_training_mode_is_refused():
    with pytest.raises(ValueError, match="`model` must be in eval mode"):
        accuracy(Answers(), named([0], [0]))


def test_it_is_measured_in_full_precision():
    seen = []

    class Watch(Answers):
        def forward(self, points):
            seen.append(torch.is_autocast_enabled("cpu"))
            return super().forward(points)

    with torch.autocast("cpu", torch.bfloat16):
        accuracy(Watch().eval(), named([0, 1], [0, 1]))
    assert seen == [False]
