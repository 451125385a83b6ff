//! How far a run has come, on stderr.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::experiment::solve::source::Watcher;
use crate::experiment::{Batch, Row, RowSink};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use super::arguments::ProgressMode;

/// A run shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);
/// Looking at the clock for each row would cost more than the shortest replication.
const ROWS_PER_LOOK: u64 = 32;

/// Counts rows and shows how many there are.
pub struct Progress {
    name: String,
    shown: Shown,
    total: u64,
    done: u64,
    failed: u64,
    /// Replications left of each point that is being run.
    left: BTreeMap<usize, u64>,
    points_done: u64,
    failed_points: BTreeSet<usize>,
    started: Instant,
    last_line: Instant,
}

enum Shown {
    Nothing,
    /// A bar that is hidden until [`PATIENCE`] has passed.
    Bar {
        bar: ProgressBar,
        visible: bool,
    },
    Json,
}

impl Progress {
    /// Of `total` replications of the scenario `name`.
    pub fn new(mode: ProgressMode, name: &str, total: u64) -> Self {
        let shown = match mode {
            ProgressMode::Auto if io::stderr().is_terminal() => {
                Shown::Bar { bar: bar(name, total), visible: false }
            }
            ProgressMode::Json => Shown::Json,
            ProgressMode::Auto | ProgressMode::None => Shown::Nothing,
        };
        let now = Instant::now();
        Self {
            name: name.to_owned(),
            shown,
            total,
            done: 0,
            failed: 0,
            left: BTreeMap::new(),
            points_done: 0,
            failed_points: BTreeSet::new(),
            started: now,
            last_line: now,
        }
    }

    /// So many more will be run than was thought.
    pub fn extend(&mut self, more: u64) {
        self.total += more;
        if let Shown::Bar { bar, .. } = &self.shown {
            bar.set_length(self.total);
        }
    }

    /// Which replications will be run, for counting points. A point that was done may get more.
    pub fn plan(&mut self, batches: &[Batch]) {
        self.left.clear();
        for Batch { point, replications } in batches {
            let count = replications.end.saturating_sub(replications.start);
            *self.left.entry(*point).or_default() += count;
        }
        self.points_done = 0;
    }

    /// Takes the bar away.
    pub fn finish(self) {
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar { bar, .. } => bar.finish_and_clear(),
            Shown::Json => self.line(),
        }
    }

    fn look(&mut self) {
        if self.started.elapsed() < PATIENCE {
            return;
        }
        match &mut self.shown {
            Shown::Nothing => {}
            Shown::Bar { bar, visible } => {
                if !*visible {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    *visible = true;
                }
                bar.set_position(self.done);
                bar.set_message(points_text(
                    self.points_done,
                    self.left.len() as u64,
                    self.failed_points.len(),
                ));
            }
            Shown::Json => {
                if self.last_line.elapsed() >= PATIENCE {
                    self.last_line = Instant::now();
                    self.line();
                }
            }
        }
    }

    fn line(&self) {
        let elapsed = self.started.elapsed().as_secs_f64();
        let rate = self.done as f64 / elapsed;
        let left = (self.total - self.done.min(self.total)) as f64 / rate;
        let line = json!({
            "scenario": self.name,
            "done": self.done,
            "total": self.total,
            "failed": self.failed,
            "points_done": self.points_done,
            "points": self.left.len(),
            "points_failed": self.failed_points.len(),
            "elapsed": elapsed,
            "rate": rate,
            "left": if left.is_finite() { json!(left) } else { Value::Null },
        });
        // Progress that nobody reads is no reason to stop.
        let _ = writeln!(io::stderr(), "{line}");
    }
}

impl Watcher for Progress {
    fn expect(&mut self, replications: u64) {
        self.extend(replications);
    }
}

impl RowSink for Progress {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        self.done += 1;
        if row.status.is_failure() {
            self.failed += 1;
            self.failed_points.insert(row.point);
        }
        if let Some(left) = self.left.get_mut(&row.point) {
            *left = left.saturating_sub(1);
            self.points_done += u64::from(*left == 0);
        }
        let slow = self.started.elapsed() > PATIENCE * ROWS_PER_LOOK as u32;
        if self.done.is_multiple_of(ROWS_PER_LOOK) || self.done < ROWS_PER_LOOK || slow {
            self.look();
        }
        Ok(())
    }
}

/// What the bar says of points; nothing of the only one.
fn points_text(done: u64, all: u64, failed: usize) -> String {
    let points = if all > 1 { format!("points {done}/{all}") } else { String::new() };
    match failed {
        0 => points,
        1 => format!("{points} 1 point failed"),
        failed => format!("{points} {failed} points failed"),
    }
}

fn bar(name: &str, total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
    let template = "{prefix} [{bar:30}] {human_pos}/{human_len} ({per_sec}, {eta} left) {msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix(name.to_owned());
    bar
}
