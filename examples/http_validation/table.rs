//! The Markdown table.

use std::fmt::Write as _;

use convsim::models::http_pool::Config;

use crate::case::Case;
use crate::judge::{Figure, Verdict};
use crate::reasons::{ON_DISTRIBUTION, reason};

const HEAD: &str = "\
# HTTP pool: measured and predicted

Real servers (Flask 2.3.3 / Werkzeug 2.3.7, gunicorn 23.0.0, Python 3.11) on a 2-core Linux 6.18
host, driven over loopback; the measurements are in
[`scenarios/data/http_measurements.json`](../scenarios/data/http_measurements.json). This file is
the output of

```sh
cargo run --release --example http_validation > docs/http-validation.md
```

Processor times of the server kinds and of the client, late sleeps, and the cost of a child process
come from the cases of role *calibration* alone; nothing was fitted on a case of role *predict*.
Three mechanisms were looked for after cases of role *predict* had been seen to miss, and have their
source elsewhere: that a thread which is woken up for the interpreter may find it taken (CPython's
`take_gil`; c06, x08, x10), the master's pause before it counts anew (gunicorn's `spawn_workers`;
w01), and that a server which serves one by one closes a connection before it accepts the next, so
that the answered client is back while the queue is still full (CPython's `socketserver`, gunicorn's
`sync.py`; t09, o03). How long a thread takes to wake up for the interpreter varies like other computing since constant
times had let one thread starve for seconds in cases that were not measured; with the means that
had been fitted to constant times the capacities with an empty handler are 1030/s and 1560/s (1030
and 1520 measured). Time slices and run queues of Linux (`host.scheduling`), left the
tails of c06, x10 and x12 as they were, and is not used here.
Each cell is measured -> predicted (error), the median over the repeats against the median over 41
replications.

A prediction holds when `elapsed`, answers/s and p50 are within 10 %, p95 and p99 within 20 % (or
one interval of the retransmission clock where segments were sent again), timeouts and errors within
2 points of the attempts.
u01, o03, u14, w01 and w02 have several outcomes and are judged on their distribution: each repeat is
that close to one of the replications. *in its spread*: the median misses, but each repeat is that
close to one of the replications; by the median alone it is a miss. What misses stays in the table.

";

/// The whole document.
pub fn write(judged: &[(&Case, Config, Vec<Figure>)]) -> String {
    let mut text = HEAD.to_owned();
    for role in ["predict", "calibration"] {
        let of_role: Vec<_> = judged.iter().filter(|(case, ..)| case.role() == role).collect();
        if of_role.is_empty() {
            continue;
        }
        let count =
            |wanted| of_role.iter().filter(|(case, _, f)| outcome(case, f) == wanted).count();
        let _ = writeln!(
            text,
            "## Role {role}: {} cases: {} hold; {} miss by the median but lie in their spread; {} miss\n",
            of_role.len(),
            count(Outcome::Holds),
            count(Outcome::InSpread),
            count(Outcome::Misses),
        );
        text.push_str("| case | what | elapsed s | answers/s | p50 ms | p95 ms | p99 ms | ok | timeouts | errors | verdict |\n");
        text.push_str("|---|---|---|---|---|---|---|---|---|---|---|\n");
        for (case, _, figures) in of_role {
            write_row(&mut text, case, figures);
        }
        text.push('\n');
    }
    text
}

/// What becomes of a case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Holds,
    InSpread,
    Misses,
}

fn outcome(case: &Case, figures: &[Figure]) -> Outcome {
    match overall(figures) {
        Verdict::Held => Outcome::Holds,
        Verdict::HeldInSpread if ON_DISTRIBUTION.contains(&case.id.as_str()) => Outcome::Holds,
        Verdict::HeldInSpread => Outcome::InSpread,
        Verdict::Missed => Outcome::Misses,
    }
}

/// The worst verdict.
pub fn overall(figures: &[Figure]) -> Verdict {
    let has = |verdict| figures.iter().any(|figure| figure.verdict == verdict);
    if has(Verdict::Missed) {
        Verdict::Missed
    } else if has(Verdict::HeldInSpread) {
        Verdict::HeldInSpread
    } else {
        Verdict::Held
    }
}

fn write_row(text: &mut String, case: &Case, figures: &[Figure]) {
    let _ = write!(text, "| {} | {} ", case.id, case.summary());
    for name in ["elapsed s", "answers/s", "p50 ms", "p95 ms", "p99 ms", "ok", "timeouts", "errors"]
    {
        match figures.iter().find(|figure| figure.name == name) {
            Some(figure) if figure.measured == 0.0 && figure.predicted == 0.0 => {
                text.push_str("| 0 ");
            }
            Some(figure) => {
                let mark = if figure.verdict == Verdict::Missed { "**" } else { "" };
                let _ = write!(
                    text,
                    "| {mark}{} -> {} ({}){mark} ",
                    short(figure.measured),
                    short(figure.predicted),
                    error(figure),
                );
            }
            None => text.push_str("| - "),
        }
    }
    let verdict = match (outcome(case, figures), overall(figures)) {
        (Outcome::Holds, Verdict::Held) => "holds".to_owned(),
        (Outcome::Holds, _) => format!("holds on its distribution{}", why(case)),
        (Outcome::InSpread, _) => format!("in its spread{}", why(case)),
        (Outcome::Misses, _) => format!("**misses**{}", why(case)),
    };
    let _ = writeln!(text, "| {verdict} |");
}

fn why(case: &Case) -> String {
    reason(&case.id).map(|reason| format!(": {reason}")).unwrap_or_default()
}

fn error(figure: &Figure) -> String {
    if matches!(figure.name, "ok" | "timeouts" | "errors") {
        return format!("{:+.0}", figure.predicted - figure.measured);
    }
    format!("{:+.1} %", 100.0 * (figure.predicted / figure.measured - 1.0))
}

/// Four digits at most.
fn short(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}
