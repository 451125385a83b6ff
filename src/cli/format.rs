//! The forms in which commands print results.

use clap::ValueEnum;

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for the terminal
    #[value(alias = "text")]
    Table,
    /// Tables for a pull request
    Markdown,
    /// For programs; docs/json.md has every field
    Json,
    /// For spreadsheets
    Csv,
}
