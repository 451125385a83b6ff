//! One replication: which one, and what it looked like.

use crate::engine::Trace;
use crate::experiment::{Row, replay};
use crate::report::number::Scale;
use crate::report::stored::Stored;
use crate::report::timeline::{Record, Timeline};
use crate::scenario::Scenario;

/// The replication whose figure is the smallest that at least `share` of all do not exceed.
pub fn at_share(figures: &[f64], share: f64) -> Option<u64> {
    let mut order: Vec<usize> = (0..figures.len()).filter(|r| figures[*r].is_finite()).collect();
    order.sort_by(|a, b| figures[*a].total_cmp(&figures[*b]));
    let rank = ((order.len() as f64 * share).ceil() as usize).saturating_sub(1);
    order.get(rank).map(|replication| *replication as u64)
}

/// A replication with its record.
pub struct Replayed {
    pub row: Row,
    pub trace: Trace,
    components: Vec<String>,
    configuration: String,
}

impl Replayed {
    /// Runs it again.
    pub fn new(scenario: &Scenario, point: usize, replication: u64) -> Self {
        let (row, trace) = replay(scenario, point, replication);
        let components = scenario.components.iter().map(|(name, _)| name.clone()).collect();
        let configuration = scenario.points[point].configuration.clone();
        Self { row, trace, components, configuration }
    }

    pub fn timeline(&self) -> Timeline<'_> {
        Timeline { components: &self.components, trace: &self.trace }
    }

    /// What pictures show of it; `why` it was chosen.
    pub fn record(&self, why: Option<&str>) -> Record {
        let why = why.map_or_else(String::new, |why| format!(" ({why})"));
        let replication = format!("{}{why}", self.row.replication);
        Record::new(self.timeline(), &self.configuration, replication)
    }
}

/// Of the first configuration the replication in the middle of the first metric: what a reader
/// wants to see first.
pub fn typical(scenario: &Scenario, stored: &Stored) -> Option<Record> {
    let column = stored.main_columns().first().copied()?;
    let figures = stored.values(0, &column.name);
    let replication = at_share(figures, 0.5).unwrap_or(0);
    let figure = figures.get(replication as usize).copied().filter(|figure| figure.is_finite());
    let why = figure.map(|figure| {
        let scale = Scale::new(column.unit(), figure);
        format!("the median: {} {}", column.title(), scale.bound(figure))
    });
    let record = Replayed::new(scenario, 0, replication).record(why.as_deref());
    // As it will be read back.
    Record::read(&record.json()).filter(|record| !record.is_empty())
}
