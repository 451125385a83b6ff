//! Every measured row against its prediction, and the document that shows them.
//!
//! `UPDATE_DOCS=1 cargo test --test l3_agent validation` writes `docs/l3-validation.md` anew.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::run::{Bench, assert_close};

#[derive(Clone, Debug, Deserialize)]
struct Row {
    mode: String,
    commands: u32,
    concurrency: u32,
    namespaces: Option<u32>,
    role: String,
    repeats: u32,
    median_s: f64,
    least_s: f64,
    greatest_s: f64,
}

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn rows() -> Vec<Row> {
    let mut reader = csv::Reader::from_path(file("scenarios/data/spawn-measurements.csv"))
        .expect("the data are there");
    reader.deserialize().map(|row| row.expect("a row of the data")).collect()
}

/// What a mode of the data runs.
fn commands(mode: &str) -> Value {
    match mode.trim_end_matches("_xargs") {
        "netns_exec" => json!({ "helper": "none" }),
        "ip_dash_n" => json!({ "helper": "none", "entry": "dash_n" }),
        "batch" => json!({ "helper": "none", "form": "batch" }),
        "sudo_netns_exec" => json!({ "helper": "sudo" }),
        "sudo_batch" => json!({ "helper": "sudo", "form": "batch" }),
        "rootwrap_cli" => json!({ "helper": "rootwrap" }),
        "sudo_rootwrap_cli" => json!({ "helper": "sudo_rootwrap" }),
        "rootwrap_daemon" => json!({ "helper": "rootwrap_daemon" }),
        "bug_sudo_netns_ip_a" => json!({ "helper": "sudo", "program": "ip_address" }),
        "bug_sudo_netns_batch_a" => {
            json!({ "helper": "sudo", "program": "ip_address", "form": "batch" })
        }
        other => panic!("mode {other}"),
    }
}

/// The mean elapsed seconds of 100 replications on the measuring host.
fn predict(mode: &str, count: u32, concurrency: u32, namespaces: u32) -> f64 {
    let mut commands = commands(mode);
    commands["count"] = json!(count);
    commands["concurrency"] = json!(concurrency);
    let host = json!({ "namespaces": namespaces });
    Bench::new(json!({ "host": host, "commands": commands })).mean("convergence_time", 100)
}

/// Intercept and slope, in seconds, that minimise the squared relative errors.
fn fit(points: &[(f64, f64)]) -> (f64, f64) {
    let mut sums = [0.0; 5];
    for (count, seconds) in points {
        let weight = 1.0 / (seconds * seconds);
        let terms = [1.0, *count, count * count, *seconds, count * seconds];
        for (sum, term) in sums.iter_mut().zip(terms) {
            *sum += weight * term;
        }
    }
    let [one, x, xx, y, xy] = sums;
    let determinant = one * xx - x * x;
    ((y * xx - x * xy) / determinant, (one * xy - x * y) / determinant)
}

/// The cost of a mode from the preset against the line through its calibration rows, whose own
/// errors against the medians are up to 19 %.
#[test]
fn presets_are_what_the_calibration_rows_give() {
    for mode in [
        "netns_exec",
        "ip_dash_n",
        "sudo_netns_exec",
        "rootwrap_cli",
        "rootwrap_daemon",
        "bug_sudo_netns_ip_a",
    ] {
        let calibration: Vec<(f64, f64)> = rows()
            .iter()
            .filter(|row| row.mode == mode && row.role == "calibration" && row.namespaces.is_none())
            .map(|row| (f64::from(row.commands), row.median_s))
            .collect();
        let (_, slope) = fit(&calibration);
        let got = (predict(mode, 200, 1, 1) - predict(mode, 100, 1, 1)) / 100.0;
        assert_close(mode, got, slope, 0.07);
    }
}

/// Relative error of a prediction.
fn error(row: &Row) -> f64 {
    predict(&row.mode, row.commands, row.concurrency, row.namespaces.unwrap_or(1)) / row.median_s
        - 1.0
}

/// The rows that were not calibrated on. The repeats of one row spread by 30 to 100 %, so single
/// rows miss (the worst, 50 lines through sudo, lies 30 % above its neighbours at 20 and 100); half
/// are within 6 % and nine of ten within 15 %.
#[test]
fn rows_that_were_not_calibrated_on_are_predicted() {
    let mut errors: Vec<f64> =
        rows().iter().filter(|row| row.role == "test").map(|row| error(row).abs()).collect();
    errors.sort_by(f64::total_cmp);
    let at = |share: f64| errors[(share * (errors.len() - 1) as f64) as usize];
    assert!(at(0.5) < 0.06, "median error {}", at(0.5));
    assert!(at(0.9) < 0.15, "p90 of the errors {}", at(0.9));
    assert!(at(1.0) < 0.26, "worst error {}", at(1.0));
}

fn table_of_rows(text: &mut String) {
    *text += "| mode | commands | at once | namespaces | role | measured, ms | least to greatest, ms | predicted, ms | error |\n";
    *text += "|---|---:|---:|---:|---|---:|---:|---:|---:|\n";
    for row in rows() {
        let namespaces = row.namespaces.map_or_else(String::new, |count| count.to_string());
        let predicted =
            predict(&row.mode, row.commands, row.concurrency, row.namespaces.unwrap_or(1));
        let error = 100.0 * (predicted / row.median_s - 1.0);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {namespaces} | {} | {:.2} | {:.2} to {:.2} ({}) | {:.2} | {error:+.1} % |",
            row.mode,
            row.commands,
            row.concurrency,
            row.role,
            row.median_s * 1e3,
            row.least_s * 1e3,
            row.greatest_s * 1e3,
            row.repeats,
            predicted * 1e3,
        );
    }
}

/// What is predicted for lists that are not among the rows, stated before they are seen.
fn table_of_concurrency(text: &mut String) {
    *text += "| mode | commands | 1 at once | 2 | 4 | 8 |\n|---|---:|---:|---:|---:|---:|\n";
    for (mode, counts) in [
        ("netns_exec", &[20, 100, 500][..]),
        ("ip_dash_n", &[20, 100]),
        ("sudo_netns_exec", &[20, 100, 200]),
        ("bug_sudo_netns_ip_a", &[100]),
        ("rootwrap_cli", &[20]),
        ("sudo_rootwrap_cli", &[20]),
        ("rootwrap_daemon", &[100]),
    ] {
        for &count in counts {
            let per_command =
                |at_once: u32| predict(mode, count, at_once, 1) * 1e3 / f64::from(count);
            let _ = writeln!(
                text,
                "| {mode} | {count} | {:.2} | {:.2} | {:.2} | {:.2} |",
                per_command(1),
                per_command(2),
                per_command(4),
                per_command(8)
            );
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
struct SecondRow {
    mode: String,
    concurrency: u32,
    elapsed_ms: f64,
    cpu_ms: f64,
    busy_cores: f64,
}

fn second_machine() -> Vec<SecondRow> {
    let mut reader = csv::Reader::from_path(file("scenarios/data/spawn-second-machine.csv"))
        .expect("the data are there");
    reader.deserialize().map(|row| row.expect("a row of the data")).collect()
}

/// Cores that a mode of the second machine keeps busy, from its split at one at once.
fn predict_busy_cores(alone: &SecondRow, concurrency: u32) -> f64 {
    let (entry, helper) = match alone.mode.as_str() {
        "true" => ("none", "none"),
        "python" => ("none", "rootwrap"),
        "ip_dash_n" => ("dash_n", "none"),
        "netns_exec_true" => ("netns_exec", "none"),
        _ => ("netns_exec", "rootwrap"),
    };
    let program = if entry == "dash_n" { "ip_neigh" } else { "true" };
    let blocked = (alone.elapsed_ms - alone.cpu_ms).max(0.0);
    let blocked = if entry == "none" { 0.0 } else { blocked };
    let milliseconds = |value: f64| format!("{} us", (value * 1e3).round());
    let host =
        json!({ "spawn_cpu": milliseconds(alone.cpu_ms), "spawn_blocked": milliseconds(blocked) });
    let commands = json!({ "count": 100, "concurrency": concurrency, "entry": entry,
        "helper": helper, "program": program });
    let mut bench = Bench::new(json!({ "host": host, "commands": commands }));
    bench.mean("cpu_time", 100) / bench.mean("convergence_time", 100)
}

fn second_predictions() -> Vec<(SecondRow, f64)> {
    let rows = second_machine();
    let alone = |mode: &str| {
        rows.iter().find(|row| row.mode == mode && row.concurrency == 1).expect("one at once")
    };
    rows.iter()
        .filter(|row| row.concurrency > 1)
        .map(|row| (row.clone(), predict_busy_cores(alone(&row.mode), row.concurrency)))
        .collect()
}

/// Another processor, other commands, up to 8 at once: predicted from one at once.
#[test]
fn a_second_machine_scales_as_its_split_at_one_says() {
    for (row, predicted) in second_predictions() {
        let what = format!("{}, {} at once", row.mode, row.concurrency);
        assert_close(&what, predicted, row.busy_cores, 0.12);
    }
}

fn table_of_second_machine(text: &mut String) {
    *text += "| commands | at once | elapsed, ms each | CPU, ms each | busy cores, measured | predicted | error |\n";
    *text += "|---|---:|---:|---:|---:|---:|---:|\n";
    for (row, predicted) in second_predictions() {
        let _ = writeln!(
            text,
            "| {} | {} | {:.2} | {:.2} | {:.2} | {predicted:.2} | {:+.1} % |",
            row.mode,
            row.concurrency,
            row.elapsed_ms,
            row.cpu_ms,
            row.busy_cores,
            100.0 * (predicted / row.busy_cores - 1.0)
        );
    }
}

fn document() -> String {
    let mut text = INTRODUCTION.to_owned();
    table_of_rows(&mut text);
    text += LINES;
    crate::commands::table_of_lines(&mut text);
    text += CONCURRENCY;
    table_of_concurrency(&mut text);
    text += SECOND_MACHINE;
    table_of_second_machine(&mut text);
    text += LIMITS;
    text
}

#[test]
fn the_validation_document_shows_what_is_predicted_now() {
    let path = file("docs/l3-validation.md");
    let document = document();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &document).expect("the document can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == document,
        "docs/l3-validation.md is out of date: UPDATE_DOCS=1 cargo test --test l3_agent validation"
    );
}

const INTRODUCTION: &str = "\
# L3 agent: predicted against measured

Made by `UPDATE_DOCS=1 cargo test --test l3_agent validation`; the same test without `UPDATE_DOCS`
fails when this page and the model differ.

The commands were measured on a two-core virtual machine at real-time priority (Linux 6.18, iproute2
6.1, sudo 1.9.13, Python 3.11, oslo.rootwrap 7.10); `scenarios/data/spawn-measurements.csv` has
median, least, greatest and CPU time of each row. Predictions are means of 100 replications of the
default configuration.

What was fitted, and what is predicted:

- Fitted: the cost table of the preset `measured` (`src/models/l3_agent/costs.rs`), on the rows with
  the role `calibration`, all at one at once, and on the line fits of the second table for modes
  without rows and for three small parts that single rows do not settle (`ip -n`, a line of a batch,
  the first sudo). Those lines are over all rows of a mode, so the `test` rows at one at once are not
  wholly unseen.
- Predicted: everything with more than one at once, in all modes and on both machines, from the
  split at one at once. No number comes from a measurement with several at once.
- The hosts of the two published reports are fits (`scenarios/dvr-arp-batch.json`,
  `scenarios/dvr-arp-eras.json` say which number comes from which figure); what they predict is in
  those files beside them.

About the split:

- The parts of a command (fork and exec, helper, namespace entry, program) are shared by all modes, so
  15 numbers stand for all of them; a mode by itself could be fitted closer.
- CPU work is user + system time per command, blocked time what remains of the elapsed time: 3.43 and
  0.40 ms for `ip netns exec`. The blocked time comes with the namespace: two grace periods.
- Rows of `ip -n` with a count of namespaces were taken in a quieter hour than those without: 1.98
  against 2.47 ms for the same 20 commands. One number cannot meet both.
- The first one or two `ip netns exec` of a row cost 1 ms more than later ones. The model has no such
  cost, because the same spawn in a batch does not show it.

## All rows

";

const LINES: &str = "
## Lines of all modes

Line fits `a + b * commands` of the same machine, for modes with and without rows above, and
the model without variation, at 1, 20 and 500 commands (20 for rootwrap, whose line ends there). At
these, all are within 10 % but two at one command, which are stated as misses (of netns exec ip neigh, two commands
still miss by 11 %): their intercepts, 0.22 and 1.01
ms, are zero within their error, and the greatest of the modes without helper. The first one or two
commands of a row do cost up to 1 ms more; the same spawn in a batch does not, so the model has no
such cost.

";

const CONCURRENCY: &str = "
## Several at once

Milliseconds per command; no figure of several at once is an input. Two at once were measured at 2.17 (netns exec), 5.18 (sudo)
and 62.2 ms (sudo rootwrap, 20 commands).

Two cores and the split alone would give 1.9, 4.3 and 52 ms: 11 to 17 % too little. CPU time per
command is the same at one and at two at once, so cores stood still while commands waited, and
longer the longer the commands compute. What they wait for are grace periods (`namespace_unlock` in
the kernel's `fs/namespace.c`: at the unmount of the old `/sys` and at the end of the namespace). The
kernel thread that works for them runs at normal priority, stays on the core where it ran last, and
does not get it while a command of real-time priority computes there. That is an inference, made with
the three measured figures and first runs on the second machine below in view: the mechanism was
chosen to explain them, so neither is a test that was held out. Four and eight at once on the measured
machine are predictions. `src/models/l3_agent/real_time.rs` runs it event by event.

";

const SECOND_MACHINE: &str = "
## A second machine

The explanation was found with runs on this machine, whose table is a later run of mostly the same
commands: another two-core virtual machine (AMD EPYC, Linux 6.18, iproute2, beside
neighbours), `chrt -r 1 sh -c 'seq N | xargs -P C -I X COMMAND'` with 16 to 150 commands, medians of
five interleaved repeats in `scenarios/data/spawn-second-machine.csv`. Python alone (`python3 -S` that replaces itself by `/bin/true`)
scales with the cores. The same Python that replaces itself by `ip netns exec NS /bin/true`, or spawns
it, does not. Each mode's split at one at once goes in, the cores that several at once keep busy (CPU
time over elapsed time) come out.

";

const LIMITS: &str = "
## What is left out

- 500 lines of `ip a` in one batch, predicted for the host of Launchpad 1511134 from its serial run
  and the measured line, gain 386 times; the report says 250. There a line cost 0.1 ms, here 28 us with
  three devices. Each line dumps every device of its namespace, so about ten devices would explain
  it; the report does not say how many there were (`scenarios/dvr-arp-batch.json`).
- A resync of 1000 routers by `master` takes 369 s, 22 % more than the greater of what the daemon's lock
  and the two cores alone make of it (303 s), and less than both one after the other (430 s). Workers
  gather behind the lock while one command uses one core, and privsep calls for the other come only
  as workers get through. No published resync settles it (`scenarios/l3-agent-restart.json`).
- The last 5 % of a core at real-time priority (`kernel.sched_rt_runtime_us`): commands that wait for
  no grace period keep 1.91 to 1.97 cores of the second machine busy, the model 2.
- The 2015 and 2014 hosts, and an agent at work, ran at normal priority: without this effect.
";
