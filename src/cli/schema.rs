//! `convsim schema`: the JSON Schema of scenario files, for editors.

use std::io::Write;
use std::process::ExitCode;

use miette::IntoDiagnostic;

/// Print the JSON Schema of scenario files.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {}

/// Writes the schema to `out`.
///
/// # Errors
/// If `out` cannot be written to.
pub fn execute(_: &Args, out: &mut dyn Write) -> Result<ExitCode, miette::Report> {
    let text = serde_json::to_string_pretty(&crate::scenario::schema()).into_diagnostic()?;
    writeln!(out, "{text}").into_diagnostic()?;
    Ok(ExitCode::SUCCESS)
}
