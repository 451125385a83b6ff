"""What comes out is what the command line gives, to the bit."""

from __future__ import annotations

import json
import os
import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import CHASSIS, SCENARIOS, command_line

import convsim


def from_csv(folder: Path, file: str = "results.csv") -> pd.DataFrame:
    """Numbers of a CSV file are the shortest texts that read back as the same number."""
    texts = pd.read_csv(folder / file, dtype=str, keep_default_na=False)
    return texts


def as_written(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows as ``results.csv`` has them."""
    columns = {}
    for name in rows.columns:
        values = rows[name]
        if name == "fingerprint":
            columns[name] = [f"{value:016x}" for value in values]
        elif name in ("message", "precision_reached"):
            columns[name] = ["" if v is None else str(v).lower() for v in values]
        elif values.dtype == np.float64:
            columns[name] = ["" if np.isnan(value) else float(value) for value in values]
        else:
            columns[name] = values.astype(str)
    return pd.DataFrame(columns)


def assert_same(rows: pd.DataFrame, written: pd.DataFrame) -> None:
    rows = as_written(rows)
    axes = [name for name in rows.columns if name not in written.columns]
    rows = rows.drop(columns=axes)
    assert list(rows.columns) == list(written.columns)
    assert len(rows) == len(written)
    for name in rows.columns:
        here, there = rows[name].tolist(), written[name].tolist()
        if any(isinstance(value, float) for value in here):
            # Equal floats have equal bits here: no figure is -0.0 in one and 0.0 in the other.
            there = [float(text) if text else "" for text in there]
            here = [np.float64(v).tobytes() if v != "" else v for v in here]
            there = [np.float64(v).tobytes() if v != "" else v for v in there]
        assert here == there, name


CASES = {
    "configurations and a sweep": (
        "chassis-packet-pop-batch",
        {"replications": 11},
        ["--replications=11"],
    ),
    "swept from one configuration": (
        "chassis-packet-pop-batch",
        {
            "configurations": "pop 1024",
            "vary": {"orchagent.pop_batch_size": "64..512:log2", "orchagent.flap.count": [3, 7]},
            "set": {"orchagent.teamd.reaction": "80 ms"},
            "seed": 9,
            "replications": 3,
        },
        [
            "--configuration=pop 1024", "--vary=orchagent.pop_batch_size=64..512:log2",
            "--vary=orchagent.flap.count=3,7", "--set=orchagent.teamd.reaction=80 ms", "--seed=9",
            "--replications=3",
        ],
    ),
    "a stopping rule": (
        "chassis-packet-pop-batch",
        {"replications": (5, 300), "until": "packet_loss_duration<=3%"},
        ["--replications=5..300", "--until=packet_loss_duration<=3%"],
    ),
    "antithetic pairs": (
        "chassis-packet-pop-batch",
        {"replications": 8, "set": {"run.antithetic": True}},
        ["--replications=8", "--set=run.antithetic=true"],
    ),
    "a horizon that cuts off": (
        "dvr-arp-batch",
        {"replications": 4, "horizon": "3 s"},
        ["--replications=4", "--horizon=3 s"],
    ),
    "HTTP servers": ("http-backlog-overflow", {"replications": 2}, ["--replications=2"]),
    "IPVS": ("ipvs-1024-cpus", {"replications": 2}, ["--replications=2"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("threads", [1, 3])
def test_rows_and_figures_are_those_of_the_command_line(case, threads, tmp_path):
    name, wanted, words = case
    file = SCENARIOS / f"{name}.json"
    command_line("run", file, *words, "--output", tmp_path, "--quiet", "--no-plots")
    rows = convsim.run(file, threads=threads, **wanted)
    assert_same(rows, from_csv(tmp_path / name))
    if threads == 1:
        summary_is_that_of_the_command_line(rows, from_csv(tmp_path / name, "summary.csv"))


def summary_is_that_of_the_command_line(rows: pd.DataFrame, written: pd.DataFrame) -> None:
    # A point of the sweep may be that of a configuration: the name tells them apart.
    cut = rows["status"].isin(["horizon", "event_budget"]).sum()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        figures = convsim.summary(rows).set_index(["configuration", "metric"])
    expected = [f"{cut} of {len(rows)} rows were cut off"] if cut else []
    assert [str(warning.message).split(" (")[0] for warning in told] == expected
    written = written[written["metric"].isin(rows.columns)]
    assert (written["cut"] != "0").any() == bool(cut)
    written = written[written["cut"] == "0"]
    assert len(written) > 0
    for _, there in written.iterrows():
        here = figures.loc[(there["configuration"], there["metric"])]
        for name in ("mean", "mean_low", "p95", "p99_high", "max"):
            if name in there and there[name]:
                assert float(there[name]) == here[name], (there["configuration"], there["metric"], name)


def test_lists_that_advance_together_and_conditions():
    sizes, flaps = "orchagent.pop_batch_size", "orchagent.flap.count"
    points = convsim.plan(
        CHASSIS, configurations="pop 128", vary={f"{sizes},{flaps}": [[64, 256], [3, 5]]}
    )
    assert list(zip(points[sizes], points[flaps]))[1:] == [(64, 3), (256, 5)]
    cut = convsim.plan(
        CHASSIS, configurations="pop 128", vary={sizes: [64, 256]}, where=f"{sizes} <= 100"
    )
    assert cut[sizes].tolist()[1:] == [64]


def test_swept_values_are_columns():
    rows = convsim.run(
        CHASSIS,
        configurations="pop 128",
        vary={"orchagent.pop_batch_size": [64, 256], "orchagent.teamd.reaction": ["1 ms", "2 ms"]},
        replications=2,
    )
    swept = rows[rows["orchagent.pop_batch_size"].notna()]
    assert sorted(swept["orchagent.pop_batch_size"].unique()) == [64, 256]
    assert sorted(swept["orchagent.teamd.reaction"].unique()) == ["1 ms", "2 ms"]


def test_columns_are_handed_over_whole():
    columns = convsim.load(CHASSIS)._loaded.run(2)
    assert all(values.base is not None for values in columns["figures"].values())
    lengths = {len(values) for values in columns["figures"].values()}
    assert lengths == {len(columns["point"])}


def test_the_plan_is_that_of_the_command_line():
    there = json.loads(command_line("plan", CHASSIS, "--format", "json").stdout)
    here = convsim.plan(CHASSIS)
    assert here["point"].tolist() == [point["id"] for point in there["points"]]
    size = "orchagent.pop_batch_size"
    assert here[size].tolist() == [point["parameters"][size] for point in there["points"]]


def test_expectations_are_judged_as_on_the_command_line():
    words = ["--replications=40", SCENARIOS / "dvr-arp-batch.json"]
    verdicts = convsim.check(words[1], replications=40)["verdict"].value_counts()
    held, missed = verdicts.get("held", 0), verdicts.get("missed", 0)
    closing = command_line("check", *words).stdout.splitlines()[-1]
    assert f"{held} held, {missed} missed" in closing


def test_a_missed_expectation_says_by_how_much():
    table = convsim.check(CHASSIS, set={"orchagent.costs.sai_set_route": "5 ms"}, replications=20)
    missed = table[table["verdict"] == "missed"]
    assert len(missed) > 0
    outside = (missed["value"] > missed["at_most"]) | (missed["value"] < missed["at_least"])
    assert outside.all()


def test_a_comparison_is_over_pairs():
    table = convsim.compare(CHASSIS, "pop 1024", "pop 128", replications=30).set_index("metric")
    rows = convsim.run(CHASSIS, configurations=["pop 1024", "pop 128"], replications=30)
    by_name = rows.pivot(index="replication", columns="configuration", values="packet_loss_duration")
    difference = (by_name["pop 128"] - by_name["pop 1024"]).mean()
    here = table.loc["packet_loss_duration"]
    assert here["pairs"] == 30
    assert here["difference"] == pytest.approx(difference)
    assert here["p_value"] < 1e-9


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (
            {
                "goal": "largest",
                "parameter": {"orchagent.pop_batch_size": "32..512:log2"},
                "target": "packet_loss_duration<=2s",
                "along": {"orchagent.flap.count": [7, 14]},
                "replications": (20, 400),
            },
            [
                "--largest", "--parameter=orchagent.pop_batch_size=32..512:log2",
                "--target=packet_loss_duration<=2s", "--along=orchagent.flap.count=7,14",
                "--replications=20..400",
            ],
        ),
        (
            {
                "goal": "minimise",
                "metric": "packet_loss_duration",
                "indifference": "100 ms",
                "configurations": ["pop 128", "pop 1024, era B2"],
                "confidence": 0.99,
                "replications": (20, 200),
            },
            [
                "--minimise=packet_loss_duration", "--indifference=100 ms", "--confidence=99%",
                "--configuration=pop 128", "--configuration=pop 1024, era B2",
                "--replications=20..200",
            ],
        ),
    ],
    ids=["largest", "minimise"],
)  # fmt: skip
def test_an_answer_is_that_of_the_command_line(wanted, words):
    solution = convsim.solve(CHASSIS, **wanted)
    there = json.loads(command_line("solve", CHASSIS, *words, "--format", "json").stdout)
    assert solution.document == there
    assert len(solution.looked_at) > 1
    answers = solution.value if isinstance(solution.value, dict) else {None: solution.value}
    assert all(answer is not None for answer in answers.values())


def test_a_comparison_is_that_of_the_command_line():
    here = convsim.compare(CHASSIS, "pop 1024", "pop 128", replications=20).set_index("metric")
    words = ["compare", CHASSIS, "pop 1024", "pop 128", "--replications=20", "--format", "json"]
    [there] = json.loads(command_line(*words).stdout)["comparisons"]
    assert len(there["metrics"]) == len(here)
    for entry in there["metrics"]:
        row = here.loc[entry["metric"]]
        assert entry["difference"] == {
            "value": row["difference"], "low": row["difference_low"], "high": row["difference_high"],
        }  # fmt: skip
        assert entry["p_value"] == row["p_value"]


def test_a_trace_is_that_of_the_command_line():
    timeline = convsim.trace(CHASSIS, "pop 1024", 3)
    words = ["trace", CHASSIS, "--configuration", "pop 1024", "--replication", "3"]
    assert timeline.text() in command_line(*words, "--text").stdout
    assert timeline.explain() in command_line(*words, "--explain").stdout
    assert (timeline.spans["end"] >= timeline.spans["start"]).all()
    assert len(timeline.instants) > 0


def test_a_trace_can_be_written(tmp_path):
    convsim.trace(CHASSIS).write(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())


def test_a_scenario_survives_pickling():
    scenario = convsim.load(CHASSIS).set("run.seed", 5).set("orchagent.pop_batch_size", 77)
    again = pickle.loads(pickle.dumps(scenario))
    assert again.seed == 5
    assert again.resolved == scenario.resolved


def test_a_scenario_stays_what_it_is_when_the_program_goes_to_another_folder(tmp_path, monkeypatch):
    file = CHASSIS.relative_to(Path.cwd())
    scenario = convsim.load(os.fsencode(file))
    assert scenario.path == file
    monkeypatch.chdir(tmp_path)
    assert scenario.path == CHASSIS
    assert len(convsim.run(scenario, replications=1)) == len(scenario.configurations)
    assert convsim.solve(
        scenario, "largest", {"orchagent.pop_batch_size": [64, 128]},
        target="packet_loss_duration<=2s", replications=20,
    ).value == 128  # fmt: skip
    again = pickle.loads(pickle.dumps(scenario.set("run.seed", 2)))
    assert (again.seed, again.path) == (2, CHASSIS)


def test_figures_have_the_confidence_of_the_scenario(tmp_path):
    words = ["--set=run.confidence=0.8", "--replications=20", "--output", tmp_path, "--quiet"]
    command_line("run", CHASSIS, *words, "--no-plots")
    rows = convsim.run(CHASSIS, set={"run.confidence": 0.8}, replications=20)
    summary_is_that_of_the_command_line(rows, from_csv(tmp_path / CHASSIS.stem, "summary.csv"))
    wider = convsim.summary(rows, "packet_loss_duration", confidence=0.95)
    narrow = convsim.summary(rows, "packet_loss_duration")
    assert (wider["mean_high"] > narrow["mean_high"]).all()


def test_rows_that_no_longer_say_how_they_were_run_are_not_taken_silently():
    metric = "packet_loss_duration"
    rows = convsim.run(
        CHASSIS, configurations="pop 128", replications=8,
        set={"run.antithetic": True, "run.confidence": 0.9},
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figures = convsim.summary(rows, metric)
        bare = pd.DataFrame(rows.to_dict("list"))
        assert bare.attrs == {}
        given = convsim.summary(bare, metric, confidence=0.9, group=2)
    pd.testing.assert_frame_equal(figures, given, check_dtype=False)
    with pytest.warns(UserWarning) as warned:
        convsim.summary(bare, metric)
    texts = [str(warning.message) for warning in warned]
    assert ["confidence=0.95 is taken" in texts[0], "group=1 is taken" in texts[1]] == [True, True]
    assert warned[0].filename == __file__


def test_what_a_scenario_says_can_be_read():
    scenario = convsim.load(CHASSIS)
    assert scenario.name == "chassis-packet-pop-batch"
    assert "60K routes" in scenario.description
    assert scenario.configurations[0] == "pop 1024"
    assert scenario.metrics.loc["packet_loss_duration", "unit"] == "s"
    assert [file.name for file in scenario.files] == ["chassis-packet-pop-batch.json"]
    assert scenario.warnings == []


def test_a_column_that_the_rows_lack_is_named_with_those_they_have():
    rows = convsim.run(CHASSIS, configurations="pop 128", replications=2)
    with pytest.raises(convsim.ConvsimError, match='did you mean "packet_loss_duration"'):
        convsim.summary(rows, "packet_los_duration")
    with pytest.raises(convsim.ConvsimError, match='no column "x": there are point, configuration'):
        convsim.summary(rows, "packet_loss_duration", by="x")
