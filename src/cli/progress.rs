//! How far a run has come, on stderr.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use convsim::experiment::solve::source::Watcher;
use convsim::experiment::{Row, RowSink, Status};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use super::arguments::ProgressMode;

/// A run shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);
/// Looking at the clock for each row would cost more than the shortest replication.
const ROWS_PER_LOOK: u64 = 32;

/// Counts rows and shows how many there are.
pub struct Progress {
    shown: Shown,
    total: u64,
    done: u64,
    failed: u64,
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
        Self { shown, total, done: 0, failed: 0, started: now, last_line: now }
    }

    /// So many more will be run than was thought.
    pub fn extend(&mut self, more: u64) {
        self.total += more;
        if let Shown::Bar { bar, .. } = &self.shown {
            bar.set_length(self.total);
        }
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
                if self.failed > 0 {
                    bar.set_message(format!("{} failed", self.failed));
                }
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
        let line = json!({
            "done": self.done,
            "total": self.total,
            "failed": self.failed,
            "elapsed": self.started.elapsed().as_secs_f64(),
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
        self.failed += u64::from(row.status == Status::Failed);
        let slow = self.started.elapsed() > PATIENCE * ROWS_PER_LOOK as u32;
        if self.done.is_multiple_of(ROWS_PER_LOOK) || self.done < ROWS_PER_LOOK || slow {
            self.look();
        }
        Ok(())
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
