"""A survey is the same whoever does it, however often it is interrupted; the audit comes first; the report last."""

import pickle
import random
from dataclasses import replace

import pytest
import torch
from tests.runs.toy import held
from tests.survey import toy

from separatrix.data import load_data
from separatrix.runs import files, merge_runs, read_run
from separatrix.survey import NotMeasurable, Processes, Shard, survey
from separatrix.survey.questions import AUDIT
from separatrix.survey.questions import QUESTIONS as EVERY
from separatrix.survey.running import REPORT

QUESTIONS = (toy.LENGTHS, toy.SIGNS)


def surveyed(folder, **settings):
    asked = {"questions": QUESTIONS, "samples": 150, "seed": 5, "name": "toy"} | settings
    return survey(toy.model(), toy.data(), out=folder, **asked)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What an uninterrupted survey by one process leaves."""
    return held(surveyed(tmp_path_factory.mktemp("whole")))


class Interruption(BaseException):
    pass


def test_a_survey_leaves_tables_and_a_report(tmp_path):
    run = surveyed(tmp_path)
    assert run.manifest.state == "complete"
    assert set(run.tables()) == {"samples", "lengths", "signs"}
    assert run.table("lengths").num_rows == 150
    assert run.table("signs").num_rows == 200
    assert (tmp_path / REPORT).read_text().startswith("<!doctype html>")


def test_labels_and_points_belong_together(tmp_path):
    samples = surveyed(tmp_path).table("samples").to_pydict()
    labels = dict(zip(samples["id"], samples["label"], strict=True))
    assert all(label == (name - 1000) % 3 for name, label in labels.items())


def test_two_processes_leave_what_one_leaves(tmp_path, whole):
    assert held(surveyed(tmp_path, workers=Processes(2, threads=1))) == whole


def test_shares_put_together_are_the_whole(tmp_path, whole):
    shares = [surveyed(tmp_path / f"{number}", shard=Shard(number, 3)).folder for number in (1, 2, 3)]
    assert read_run(shares[0]).manifest.state == "partial"
    assert held(merge_runs(shares, tmp_path / "all")) == whole


def test_interrupted_at_every_write_it_goes_on_and_leaves_the_same(tmp_path, whole, monkeypatch):
    count = {"writes": 0, "limit": 10**9}

    def reached(stage, path):
        count["writes"] += 1
        if count["writes"] > count["limit"]:
            raise Interruption

    monkeypatch.setattr(files, "reached", reached)
    surveyed(tmp_path / "counted")
    total = count["writes"]
    for limit in range(1, total, max(total // 12, 1)):
        folder = tmp_path / f"{limit}"
        count.update(writes=0, limit=limit)
        with pytest.raises(Interruption):
            surveyed(folder)
        count.update(limit=10**9)
        assert held(surveyed(folder)) == whole


def test_a_worker_that_is_killed_is_told_in_one_line_and_the_same_call_goes_on(tmp_path, monkeypatch):
    monkeypatch.setenv("SEPARATRIX_TEST_MARK", str(tmp_path / "mark"))
    with pytest.raises(ChildProcessError, match="A worker process was killed"):
        surveyed(tmp_path / "run", questions=(toy.KILLS,), workers=Processes(1, threads=1))
    run = surveyed(tmp_path / "run", questions=(toy.KILLS,))
    assert run.manifest.state == "complete"


def test_a_question_that_fails_leaves_what_the_others_have_found_and_a_report(tmp_path):
    with pytest.raises(ValueError, match="got sample 1007"):
        surveyed(tmp_path, questions=(toy.SIGNS, toy.FAILS), samples=300)
    run = read_run(tmp_path)
    assert run.manifest.state == "interrupted"
    assert "signs" in run.tables()
    assert (tmp_path / REPORT).exists()


def test_questions_can_be_asked_later(tmp_path, whole):
    surveyed(tmp_path, questions=(toy.SIGNS,))
    later = surveyed(tmp_path, questions=(toy.LENGTHS,))
    assert set(later.tables()) == {"samples", "lengths", "signs"}
    assert later.table("lengths").num_rows == 150


def test_another_seed_is_refused_with_the_difference(tmp_path):
    surveyed(tmp_path)
    with pytest.raises(ValueError, match="seed: 5 → 6"):
        surveyed(tmp_path, seed=6)


def test_the_model_and_all_random_numbers_are_as_they_were(tmp_path):
    model = toy.model()
    weight, numbers = model.module.weight.clone(), (torch.get_rng_state(), random.getstate())
    survey(model, toy.data(), out=tmp_path, questions=QUESTIONS, samples=20)
    assert torch.equal(model.module.weight, weight)
    assert model.module.weight.requires_grad
    assert torch.equal(torch.get_rng_state(), numbers[0])
    assert random.getstate() == numbers[1]


def test_an_unsound_model_gets_an_audit_and_a_reason_and_nothing_else(tmp_path):
    model = toy.model()
    model.module.train()
    with pytest.raises(NotMeasurable, match="`model` must be in eval mode") as refused:
        survey(model, toy.data(), out=tmp_path, questions=(AUDIT, toy.LENGTHS), samples=40)
    assert set(refused.value.run.tables()) == {"samples", "audit"}
    assert (tmp_path / REPORT).exists()
    assert model.module.training


def test_questions_of_another_plan_do_not_mix(tmp_path):
    surveyed(tmp_path, questions=(toy.SIGNS,))
    with pytest.raises(ValueError, match="be those planned for signs"):
        surveyed(tmp_path, questions=(replace(toy.SIGNS, samples=50),))


@pytest.mark.parametrize(("number", "of"), [(0, 2), (3, 2), (1, 0), (1.0, 2)])
def test_bad_shares_are_refused(number, of):
    with pytest.raises(ValueError, match="`shard` must be i/n"):
        Shard(number, of)


def test_no_file_of_a_run_is_written_but_in_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    surveyed(tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_what_is_no_module_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"`model` must be a torch.nn.Module; got function"):
        survey(lambda points: points, toy.data(), out=tmp_path)


def halved():
    return toy.model().half()


def of_other_shape():
    return toy.model(dim=5)


def broken():
    model = toy.model()
    model.logits = lambda answer: {}["boom"]
    return model


def with_nan():
    model = toy.model()
    with torch.no_grad():
        model.module.weight[0, 0] = torch.nan
    return model


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (halved, "`model` must be float32 or float64"),
        (of_other_shape, "`points` must have a shape the model accepts"),
        (broken, "`model` must answer the points; got KeyError"),
        (with_nan, "`model` must return finite logits"),
    ],
)
def test_a_model_that_does_not_answer_is_no_survey(tmp_path, made, reason):
    needy = replace(toy.LENGTHS, needs=("gradients",))
    with pytest.raises(NotMeasurable, match=reason):
        survey(made(), toy.data(), out=tmp_path, questions=(AUDIT, needy), samples=20)


def test_points_come_in_the_precision_of_the_model(tmp_path):
    data = toy.data()
    double = load_data(data.points.double(), labels=data.labels, ids=data.ids)
    survey(toy.model(), double, out=tmp_path, questions=QUESTIONS, samples=20)
    assert read_run(tmp_path).table("lengths").schema.field("norm").type == "float"


@pytest.mark.parametrize("question", EVERY, ids=lambda question: question.name)
def test_every_question_can_be_sent_to_a_worker(question):
    assert pickle.loads(pickle.dumps(question)) == question


def test_workers_may_be_a_number(tmp_path, whole):
    assert held(surveyed(tmp_path, workers=1)) == whole
    with pytest.raises(ValueError, match="`workers` must be a whole number"):
        surveyed(tmp_path, workers=0)


def test_names_are_no_questions(tmp_path):
    with pytest.raises(ValueError, match=r"`questions` must hold questions, .*; got 'audit'"):
        surveyed(tmp_path, questions=("audit",))
