//! What a reader gets: tables on the terminal, Markdown, CSV, JSON and the files of a run. It knows
//! nothing of how a result was computed.
//!
//! - [`number`]: rounding, so that the interval shows.
//! - [`table`], [`attribution`], [`notes`], [`expectations`]: the report on the terminal, put
//!   together by [`terminal`] and, for a pull request, by [`markdown`].
//! - [`results_csv`], [`results_parquet`], [`summary_csv`], [`summary_json`], [`manifest`]: the files, each written
//!   whole by [`files`].
//! - [`document`]: a short report of paragraphs and tables, on the terminal or as Markdown.
//! - [`checked`]: expectations of several scenarios, as Markdown, JSON and CSV.
//! - [`junit`]: expectations for a CI server.
//! - [`comparison`]: two configurations side by side; [`solve`]: which value meets a target;
//!   [`sensitivity`]: which parameters a figure depends on.
//! - [`timeline`]: what happened when in one replication.
//! - [`answer`]: the answer in sentences.
//! - [`stored`]: a run read back from its folder; [`plots`]: the pictures of it; [`html`]: the report.

pub mod answer;
pub mod attribution;
pub mod checked;
pub mod comparison;
pub mod document;
pub mod expectations;
pub mod files;
pub mod html;
pub mod junit;
pub mod manifest;
pub mod markdown;
pub mod notes;
pub mod number;
pub mod plots;
pub mod results_csv;
pub mod results_parquet;
pub mod sensitivity;
pub mod solve;
pub mod stored;
pub mod summary_csv;
pub mod summary_json;
pub mod table;
pub mod terminal;
pub mod timeline;

#[cfg(test)]
mod tests;

use crate::experiment::{Judgement, PointSummary};
use crate::scenario::{MetricColumn, Point, Scenario};

/// What a finished run is reported from.
#[derive(Clone, Copy, Debug)]
pub struct Report<'r> {
    /// What was run.
    pub scenario: &'r Scenario,
    /// Its columns.
    pub columns: &'r [MetricColumn],
    /// What came out, point by point.
    pub summaries: &'r [PointSummary],
    /// What became of the expectations, in the order of the scenario.
    pub judgements: &'r [Judgement],
}

impl<'r> Report<'r> {
    /// The columns of the main table: those the scenario names, else the headline metrics.
    #[must_use]
    pub fn main_columns(&self) -> Vec<usize> {
        main_columns(self.scenario, self.columns)
    }

    /// The point that a summary is of.
    #[must_use]
    pub fn point(&self, summary: &PointSummary) -> &'r Point {
        &self.scenario.points[summary.point]
    }
}

/// The columns of the main table: those that `scenario` names, else the headline metrics.
#[must_use]
pub fn main_columns(scenario: &Scenario, columns: &[MetricColumn]) -> Vec<usize> {
    let named = &scenario.run.metrics;
    if named.is_empty() {
        return (0..columns.len()).filter(|&index| columns[index].metric.headline).collect();
    }
    named.iter().filter_map(|name| columns.iter().position(|c| &c.name == name)).collect()
}
