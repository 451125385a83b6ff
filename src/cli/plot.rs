//! `convsim plot`: pictures from stored results.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::report::plots::{self, Kind, Plot};
use crate::report::stored::Stored;
use clap::{Args, ValueEnum};

use super::error::{CliError, Problem};
use super::{Outcome, print};

/// What `convsim plot` understands.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
The pictures are written to DIR/plots, each as SVG and as PNG with two pixels for each of a slide. \
`convsim run` writes them, too. Timeline and gantt are of the replication in the \
middle of the first configuration's first metric; `convsim trace --plot` draws them of any other.")]
pub struct Arguments {
    /// Folder with the results of a scenario, e.g. outputs/chassis-packet-pop-batch
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Only pictures of this kind; by default all that suit the scenario
    #[arg(long, value_name = "KIND")]
    kind: Option<KindName>,
    /// Only pictures of this metric of the main table; by default of all
    #[arg(long, value_name = "METRIC")]
    metric: Option<String>,
}

/// A kind of picture.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum KindName {
    /// A metric against a swept parameter
    Sweep,
    /// A metric over two swept parameters
    HeatMap,
    /// Where a metric comes from, part by part
    Attribution,
    /// How far each configuration is from the first, pair by pair
    Difference,
    /// The distribution over the replications
    Distribution,
    /// What was measured beside what came out, quantile by quantile and figure by figure
    Calibration,
    /// What was counted in one replication over virtual time
    Timeline,
    /// Who was busy with what in one replication
    Gantt,
}

impl From<KindName> for Kind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Sweep => Self::Sweep,
            KindName::HeatMap => Self::HeatMap,
            KindName::Attribution => Self::Attribution,
            KindName::Difference => Self::Difference,
            KindName::Distribution => Self::Distribution,
            KindName::Calibration => Self::Calibration,
            KindName::Timeline => Self::Timeline,
            KindName::Gantt => Self::Gantt,
        }
    }
}

/// Runs the command.
pub fn plot(arguments: &Arguments) -> Result<Outcome, CliError> {
    let stored = Stored::read(&arguments.folder).map_err(Problem::Stored)?;
    if let Some(name) = &arguments.metric {
        let columns = plots::columns(&stored);
        if columns.iter().all(|column| column.name != *name) {
            let known: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
            let known = known.join(", ");
            return Err(Problem::UnknownMetric { name: name.clone(), known }.into());
        }
    }
    let kind = arguments.kind.map(Kind::from);
    let plots = plots::plots(&stored, kind, arguments.metric.as_deref());
    if plots.is_empty() {
        return Err(Problem::NoPlots { folder: arguments.folder.clone() }.into());
    }
    let written = write(&plots, &arguments.folder)?;
    let mut text = String::new();
    for path in written {
        let _ = writeln!(text, "{}", path.display());
    }
    print(&text)?;
    Ok(Outcome::Fine)
}

/// Letters without a glyph that are named.
const MOST_LETTERS: usize = 10;

/// Writes the pictures into the folder of the results.
pub fn write(plots: &[Plot], folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    write_into(plots, &folder.join("plots"))
}

/// Writes the pictures into `folder` itself.
pub fn write_into(plots: &[Plot], folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let lacking = plots.iter().flat_map(|plot| plot.drawing.letters_without_glyph());
    let lacking: BTreeSet<char> = lacking.collect();
    if !lacking.is_empty() {
        let letters: Vec<String> = lacking.iter().take(MOST_LETTERS).map(char::to_string).collect();
        let more = if lacking.len() > MOST_LETTERS { " ..." } else { "" };
        eprintln!(
            "the font of the PNG pictures has no {}{more}: a box stands for each; the SVG have them",
            letters.join(" ")
        );
    }
    let failed = |error| Problem::Plots { folder: folder.to_owned(), error };
    Ok(plots::write(plots, folder).map_err(failed)?)
}
