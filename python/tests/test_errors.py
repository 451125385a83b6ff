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


def test_one_metric_is_a_text():
    table = convsim.compare(
        CHASSIS, "pop 1024", "pop 128", metrics="packet_loss_duration", replications=5
    )
    assert table["metric"].tolist() == ["packet_loss_duration"]


@pytest.mark.parametrize("value", [object(), {1, 2}, float("nan"), [1, float("inf")]])
def test_what_is_no_value_of_a_scenario_is_refused_with_its_path(value):
    size = "orchagent.pop_batch_size"
    for change in ({"set": {size: value}}, {"vary": {size: [64, value]}}):
        with pytest.raises((TypeError, ValueError), match=f"{size}: .* scenario: "):
            convsim.plan(CHASSIS, **change)
    with pytest.raises((TypeError, ValueError), match=f"{size}: .* scenario: "):
        convsim.solve(CHASSIS, "largest", {size: [64, value]}, target="packet_loss_duration<=2s")


def test_a_replication_is_counted_from_0():
    with pytest.raises(ValueError, match="replication is -1: they are counted from 0"):
        convsim.trace(CHASSIS, "pop 1024", -1)


def test_replications_are_one_number_or_two():
    for wrong in ((1, 2, 3), (1,)):
        with pytest.raises(ValueError, match="give a number, or the fewest and the most"):
            convsim.run(CHASSIS, replications=wrong)


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        convsim.trace(CHASSIS).write(tmp_path / "nowhere" / "trace.json")
    assert raised.value.filename == str(tmp_path / "nowhere" / "trace.json")
    assert str(raised.value).startswith("[Errno 2] No such file or directory: ")


def test_more_points_than_are_allowed_can_be_allowed(tmp_path):
    file = tmp_path / "links.json"
    file.write_text('{ "name": "links", "components": { "orchagent": { "model": "orchagent" } } }')
    vary = {"orchagent.pop_batch_size": range(1, 31)}
    with pytest.raises(convsim.ScenarioError, match="max-points"):
        convsim.plan(file, vary=vary, max_points=29)
    points = convsim.plan(file, vary=vary, max_points=31)
    assert len(points) >= 30
    rows = convsim.run(file, vary=vary, max_points=31, replications=1)
    assert len(rows) == len(points)
    with pytest.raises(convsim.ScenarioError, match="max-points"):
        convsim.load(CHASSIS, max_points=1)


# Users who think for 456 years: the second time is past the end of representable time.
ENDLESS = """{
  "name": "users",
  "components": { "web": { "model": "http_pool", "clients": { "users": 5, "requests": 50 } } },
  "configurations": [
    { "name": "fine", "set": { "web.clients.think_time": "1 s" } },
    { "name": "endless", "set": { "web.clients.think_time": "4000000 h" } }
  ],
  "run": { "replications": 20, "horizon": "5124095 h" },
  "expect": [
    { "configuration": "endless", "metric": "timeouts", "statistic": "mean", "at_least": 0, "source": "none" }
  ]
}"""


def test_every_failure_is_said_where_the_command_line_ends_with_code_3(tmp_path):
    file = tmp_path / "users.json"
    file.write_text(ENDLESS)
    command_line("run", file, "--output", tmp_path, "--no-plots", "--quiet", code=3)
    first = 'first in replication 0 of "endless": time_overflow, something scheduled past the end'
    failed = f"a model failed in 20 of {{}} replications, {first}"
    with pytest.warns(convsim.ModelFailureWarning, match=failed.format(40)) as warned:
        rows = convsim.run(file)
    assert (rows["status"] == "time_overflow").sum() == 20
    assert warned[0].filename == __file__
    with pytest.warns(convsim.ModelFailureWarning, match=failed.format(40)):
        convsim.compare(file, "fine", "endless")
    with pytest.warns(convsim.ModelFailureWarning, match=failed.format(20)):
        convsim.check(file)
    with pytest.warns(convsim.ModelFailureWarning, match="failed in 1 of 1"):
        convsim.trace(file, "endless")
    with pytest.warns(convsim.ModelFailureWarning, match="time_overflow"):
        convsim.solve(
            file, "minimise", metric="elapsed", indifference="1 s",
            configurations=["fine", "endless"], replications=(4, 8),
        )  # fmt: skip


@pytest.mark.parametrize("axis", [5, {"a": 1}])
def test_what_is_no_axis_is_refused(axis):
    with pytest.raises(TypeError, match=r"32\.\.4096:log2"):
        convsim.run(CHASSIS, vary={"orchagent.pop_batch_size": axis})


def test_intervals_need_a_confidence():
    rows = convsim.run(CHASSIS, configurations="pop 128", replications=2)
    with pytest.raises(ValueError, match="above 0"):
        convsim.summary(rows, confidence=1.0)
