//! Pictures of a run, made from its stored results.
//!
//! Each picture is a [`Drawing`]: a list of marks that tests can look at. `style` has every size
//! and colour, `axis` the axes, `frame` what surrounds the data; `drawing` paints with `plotters`.
//! Which pictures suit a scenario follows from what it has: `Kind::of`.

mod agreement;
pub mod axis;
pub(super) mod bars;
mod cut;
mod distribution;
pub mod drawing;
pub(super) mod frame;
mod gantt;
mod heat_map;
pub(super) mod pages;
mod parts;
mod quantiles;
mod slices;
pub mod style;
mod sweep;
mod timeline;

#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::stored::{Stored, StoredColumn};
use super::timeline::Record;
pub use drawing::{DrawError, Drawing};
pub use parts::PartColours;

/// What a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A metric against a swept parameter.
    Sweep,
    /// A metric over two swept parameters.
    HeatMap,
    /// Its distribution over the replications.
    Distribution,
    /// Where it comes from.
    Attribution,
    /// How far each configuration is from the first.
    Difference,
    /// What was measured beside what came out.
    Calibration,
    /// What was counted in one replication over virtual time.
    Timeline,
    /// Who was busy with what in one replication.
    Gantt,
    /// What a figure depends on. Made by an analysis of sensitivity, not from stored results.
    Sensitivity,
}

impl Kind {
    /// Those of stored results, in the order in which a reader wants them.
    pub const ALL: [Self; 8] = [
        Self::Sweep,
        Self::HeatMap,
        Self::Attribution,
        Self::Difference,
        Self::Distribution,
        Self::Calibration,
        Self::Timeline,
        Self::Gantt,
    ];

    /// The name in files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sweep => "sweep",
            Self::HeatMap => "heat-map",
            Self::Distribution => "distribution",
            Self::Attribution => "attribution",
            Self::Difference => "difference",
            Self::Calibration => "calibration",
            Self::Timeline => "timeline",
            Self::Gantt => "gantt",
            Self::Sensitivity => "sensitivity",
        }
    }

    /// The pictures of this kind of a metric: none where it does not suit the scenario, several
    /// where several parameters are swept one by one or one picture does not hold all.
    fn of(self, stored: &Stored, column: &StoredColumn) -> Vec<(String, Drawing)> {
        let metric = file_name(&column.name);
        let all = |pages| pages::named(&format!("{}-{metric}", self.name()), pages);
        match self {
            Self::Sweep => {
                let paths = swept_paths(stored);
                let several = paths.len() > 1;
                let name = |path: &str| {
                    let path =
                        if several { format!("-{}", file_name(path)) } else { String::new() };
                    format!("{}-{metric}{path}", self.name())
                };
                let drawn =
                    |path: &&str| pages::named(&name(path), sweep::sweep(stored, column, path));
                let one_by_one: Vec<_> = paths.iter().flat_map(drawn).collect();
                let together = all(slices::slices(stored, column));
                one_by_one.into_iter().chain(together).collect()
            }
            Self::HeatMap => all(heat_map::heat_map(stored, column)),
            Self::Distribution => all(Vec::from_iter(distribution::distribution(stored, column))),
            Self::Attribution => all(bars::attribution(stored, column)),
            Self::Difference => all(bars::difference(stored, column)),
            Self::Calibration => {
                let name = |form, of| format!("{}-{form}-{of}", self.name());
                let stem = agreement::stem(&column.name);
                let first = agreement::stems(stored).contains(&column);
                let agreement = first.then(|| agreement::agreement(stored, stem)).flatten();
                let agreement =
                    agreement.map(|drawing| (name("measured", file_name(stem)), drawing));
                let quantiles = quantiles::quantiles(stored, column);
                let quantiles = pages::named(&name("quantiles", metric), quantiles);
                quantiles.into_iter().chain(agreement).collect()
            }
            // Of a replication, or of an analysis, not of a metric.
            Self::Timeline | Self::Gantt | Self::Sensitivity => Vec::new(),
        }
    }

    /// The pictures of this kind of one replication, the first called `name`; what is in `parts` has
    /// the colour that it has everywhere.
    #[must_use]
    pub fn of_replication(self, record: &Record, name: &str, parts: &PartColours) -> Vec<Plot> {
        let drawn = match self {
            Self::Timeline => timeline::timeline(record),
            Self::Gantt => gantt::gantt(record, parts),
            _ => Vec::new(),
        };
        let plot = |(name, drawing)| Plot { name, kind: self, metric: String::new(), drawing };
        pages::named(name, drawn).into_iter().map(plot).collect()
    }
}

/// A picture with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// The name of its files, without the ending.
    pub name: String,
    /// What it shows.
    pub kind: Kind,
    /// The metric.
    pub metric: String,
    /// The picture.
    pub drawing: Drawing,
}

/// The pictures that suit the results: of `metric` or of the metrics of the main table, of `kind`
/// or of all kinds.
#[must_use]
pub fn plots(stored: &Stored, kind: Option<Kind>, metric: Option<&str>) -> Vec<Plot> {
    let main = stored.main_columns();
    let columns = columns(stored);
    let flat = flat(stored);
    let wanted = |column: &&&StoredColumn| metric.is_none_or(|name| column.name == name);
    let kinds = || Kind::ALL.into_iter().filter(|known| kind.is_none_or(|kind| kind == *known));
    // Of a metric that is not in the main table there is no more than what was measured.
    let has = |column: &StoredColumn, own: Kind| match own {
        Kind::Calibration => true,
        // What is always 0, or does not vary, is drawn only when it is asked for.
        _ if kind.is_none() && metric.is_none() && flat.contains(&column) => false,
        Kind::Distribution if kind.is_none() && distribution::is_flat(stored, column) => false,
        _ => main.contains(&column),
    };
    let pairs: Vec<(&StoredColumn, Kind)> = columns
        .iter()
        .filter(wanted)
        .flat_map(|column| kinds().map(move |kind| (*column, kind)))
        .filter(|(column, kind)| has(column, *kind))
        .collect();
    let of = |&(column, kind): &(&StoredColumn, Kind)| -> Vec<Plot> {
        let named = kind.of(stored, column).into_iter();
        named
            .map(|(name, drawing)| Plot { name, kind, metric: column.name.clone(), drawing })
            .collect()
    };
    let mut plots: Vec<Plot> =
        pairs.par_iter().map(of).collect::<Vec<_>>().into_iter().flatten().collect();
    if let (Some(record), None) = (&stored.record, metric) {
        let parts = PartColours::of(&stored.summary.columns);
        plots.extend(kinds().flat_map(|kind| kind.of_replication(record, kind.name(), &parts)));
    }
    plots
}

/// The metrics of the main table that are 0 in every replication, of which a picture would say nothing.
#[must_use]
pub fn flat(stored: &Stored) -> Vec<&StoredColumn> {
    let zero = |column: &&StoredColumn| {
        let mut points = 0..stored.summary.points.len();
        points.all(|point| {
            let values = stored.values(point, &column.name);
            !values.is_empty() && values.iter().all(|value| *value == 0.0)
        })
    };
    stored.main_columns().into_iter().filter(zero).collect()
}

/// The metrics that pictures can be of: those of the main table, and those that were measured.
#[must_use]
pub fn columns(stored: &Stored) -> Vec<&StoredColumn> {
    let mut columns = stored.main_columns();
    let summary = &stored.summary;
    let recorded = |column: &StoredColumn| summary.recorded.iter().any(|r| r.metric == column.name);
    let recorded = summary.columns.iter().filter(|column| recorded(column));
    for column in agreement::stems(stored).into_iter().chain(recorded) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}

/// Pixels of a slide, one picture above the other, that are painted at once: about 110 MB.
const MOST_HEIGHT: f64 = 1_600.0;

/// Writes each picture as SVG and PNG into `folder`; returns the names of the SVG files.
///
/// # Errors
/// What the file system says.
pub fn write(plots: &[Plot], folder: &Path) -> Result<Vec<PathBuf>, WriteError> {
    fs::create_dir_all(folder)?;
    let one = |plot: &Plot| -> Result<PathBuf, WriteError> {
        // Each file appears whole: written beside its place, then renamed.
        let svg = folder.join(format!("{}.svg", plot.name));
        let part = folder.join(format!(".{}.part.svg", plot.name));
        fs::write(&part, plot.drawing.svg()?)?;
        fs::rename(&part, &svg)?;
        let part = folder.join(format!(".{}.part.png", plot.name));
        plot.drawing.write_png(&part)?;
        fs::rename(&part, folder.join(format!("{}.png", plot.name)))?;
        Ok(svg)
    };
    let mut written = Vec::with_capacity(plots.len());
    let mut rest = plots;
    while !rest.is_empty() {
        let mut height = 0.0;
        let fits = |plot: &&Plot| {
            height += plot.drawing.size.1;
            height <= MOST_HEIGHT
        };
        let (batch, others) = rest.split_at(rest.iter().take_while(fits).count().max(1));
        let files: Result<Vec<PathBuf>, WriteError> = batch.par_iter().map(one).collect();
        written.extend(files?);
        rest = others;
    }
    Ok(written)
}

/// Why pictures could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file system.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The picture.
    #[error(transparent)]
    Draw(#[from] DrawError),
}

/// The name of a part within its whole, for a reader.
#[must_use]
pub fn part_title(whole: &StoredColumn, part: &StoredColumn) -> String {
    parts::title(&whole.name, &part.name)
}

/// The parameters that are swept by themselves.
fn swept_paths(stored: &Stored) -> Vec<&str> {
    let mut paths: Vec<&str> = Vec::new();
    for point in stored.summary.points.iter().filter(|point| point.axes.len() == 1) {
        for path in point.axes.keys() {
            if !paths.contains(&path.as_str()) {
                paths.push(path);
            }
        }
    }
    paths
}

/// `name` with nothing but letters, digits, dots and hyphens.
pub(super) fn file_name(name: &str) -> String {
    let fine = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    name.chars().map(fine).collect()
}
