//! `convsim report`: one self-contained HTML file from stored results.

use std::path::{Path, PathBuf};

use crate::report::files::ResultFolder;
use crate::report::html::html;
use crate::report::plots::{Plot, plots};
use crate::report::stored::Stored;
use clap::Args;

use super::error::{CliError, Problem};
use super::{Outcome, print};

/// What `convsim report` understands.
#[derive(Clone, Debug, Args)]
pub struct Arguments {
    /// Folder with the results of a scenario, e.g. outputs/chassis-packet-pop-batch
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Runs the command.
pub fn report(arguments: &Arguments) -> Result<Outcome, CliError> {
    let stored = Stored::read(&arguments.folder).map_err(Problem::Stored)?;
    write(&stored, &plots(&stored, None, None), &arguments.folder)?;
    print(&format!("The report is in {}\n", arguments.folder.join("report.html").display()))?;
    Ok(Outcome::Fine)
}

/// Writes the report into the folder of the results.
pub fn write(stored: &Stored, plots: &[Plot], folder: &Path) -> Result<(), CliError> {
    let page = html(stored, plots).map_err(Problem::Report)?;
    let save = ResultFolder::prepare(folder.to_owned())
        .and_then(|results| results.write("report.html", page.as_bytes()));
    save.map_err(|error| Problem::Write { folder: folder.to_owned(), error }.into())
}
