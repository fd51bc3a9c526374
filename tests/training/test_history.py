import math

from separatrix.training import Epoch, History

FIRST, SECOND = Epoch(2.1, 0.4, 0.5, 1e-3, 1.5), Epoch(1 / 3, 0.8, 0.75, 1e-4, 2.5)


def test_an_empty_history_has_no_accuracy():
    history = History()
    assert len(history) == 0
    assert math.isnan(history.accuracy)
    assert str(history) == "0 epochs"


def test_epochs_are_added_at_the_end():
    history = History().extended(FIRST).extended(SECOND)
    assert history.epochs == (FIRST, SECOND)
    assert history.loss == (2.1, 1 / 3)
    assert history.accuracy == 0.75
    assert history.seconds == 4.0
    assert str(history) == "2 epochs in 4 s: loss 0.333, test accuracy 75.0%"


def test_without_test_samples_there_is_no_accuracy():
    history = History((Epoch(2.1, 0.4, None, 1e-3, 1.5),))
    assert math.isnan(history.accuracy)
    assert "accuracy" not in str(history)


def test_a_history_is_read_as_it_was_saved(tmp_path):
    for history in (History(), History((FIRST, Epoch(0.1, 0.9, None, 0.0, 3.0)))):
        history.save(tmp_path / "log" / "history.json")
        assert History.read(tmp_path / "log" / "history.json") == history
