"""What is wrong is raised with the text of the command line."""

from __future__ import annotations

import pytest
from conftest import CHASSIS, command_line

import convsim

WRONG = """{
  "name": "wrong",
  "components": { "orchagent": { "model": "orchagent", "pop_batch_sise": 128 } },
  "run": { "horizon": 300 },
}
"""


def test_mistakes_in_a_file_have_the_text_and_the_places_of_the_command_line(tmp_path):
    file = tmp_path / "wrong.json"
    file.write_text(WRONG)
    with pytest.raises(convsim.ScenarioError) as raised:
        convsim.load(file)
    assert str(raised.value) == command_line("run", file, code=2).stderr.rstrip()
    places = {problem["path"]: problem["place"] for problem in raised.value.problems}
    assert places["components.orchagent.pop_batch_sise"] == f"{file}:3:56"
    assert places["run.horizon"] == f"{file}:4:23"
    assert any("pop_batch_size" in problem["help"] for problem in raised.value.problems)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"orchagent.pop_batch_size": 0}, ["--set=orchagent.pop_batch_size=0"]),
        ({"orchagent.teamd.reaction": 5}, ["--set=orchagent.teamd.reaction=5"]),
        ({"orchagent.teamd.reaction": "5 parsec"}, ["--set=orchagent.teamd.reaction=5 parsec"]),
        ({"nobody.x": 1}, ["--set=nobody.x=1"]),
    ],
)
def test_a_wrong_change_has_the_text_of_the_command_line(changes, words):
    scenario = convsim.load(CHASSIS)
    [(path, value)] = changes.items()
    with pytest.raises(convsim.ScenarioError) as raised:
        scenario.set(path, value)
    there = command_line("run", CHASSIS, *words, code=2).stderr.rstrip()
    assert str(raised.value) == there
    # The scenario itself is as it was.
    assert convsim.plan(scenario).shape[0] == len(scenario.configurations)


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"replications": 0}, ["--replications=0"]),
        ({"until": "x"}, ["--until=x"]),
        ({"threads": 0}, ["--threads=0"]),
        ({"seed": -1}, ["--seed=-1"]),
    ],
)
def test_a_wrong_argument_has_the_text_of_the_command_line(wanted, words):
    with pytest.raises(convsim.ConvsimError) as raised:
        convsim.run(CHASSIS, **wanted)
    assert str(raised.value) == command_line("run", *words, CHASSIS, code=2).stderr.rstrip()


def test_a_question_that_cannot_be_asked_has_the_text_of_the_command_line():
    with pytest.raises(convsim.ConvsimError) as raised:
        convsim.solve(CHASSIS, "largest", {"orchagent.pop_batch_size": [1, 2]}, target="x<=1")
    words = ["--largest", "--parameter=orchagent.pop_batch_size=1,2", "--target=x<=1", "--", CHASSIS]
    assert str(raised.value) == command_line("solve", *words, code=2).stderr.rstrip()


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(convsim.ScenarioError, match="nowhere.json"):
        convsim.load("nowhere.json")


def test_unknown_names_say_which_there_are():
    with pytest.raises(convsim.ConvsimError, match='"pop 128"'):
        convsim.compare(CHASSIS, "pop 1024", "pop 12")
    with pytest.raises(convsim.ConvsimError, match="packet_loss_duration"):
        convsim.compare(CHASSIS, "pop 1024", "pop 128", metrics=["loss"])


@pytest.mark.parametrize("value", [object(), {1, 2}, float("nan")])
def test_what_is_no_value_of_a_scenario_is_refused(value):
    with pytest.raises((TypeError, ValueError)):
        convsim.load(CHASSIS).set("orchagent.pop_batch_size", value)


@pytest.mark.parametrize("axis", [5, {"a": 1}])
def test_what_is_no_axis_is_refused(axis):
    with pytest.raises(TypeError, match=r"32\.\.4096:log2"):
        convsim.run(CHASSIS, vary={"orchagent.pop_batch_size": axis})


def test_intervals_need_a_confidence():
    rows = convsim.run(CHASSIS, configurations="pop 128", replications=2)
    with pytest.raises(ValueError, match="above 0"):
        convsim.summary(rows, confidence=1.0)
