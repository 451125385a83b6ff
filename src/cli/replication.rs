//! One replication: which one, and what it looked like.

use crate::engine::Trace;
use crate::experiment::{Row, replay};
use crate::report::number::Scale;
use crate::report::stored::Stored;
use crate::report::timeline::{Record, Timeline};
use crate::scenario::Scenario;

/// The replication whose figure is the smallest that at least `share` of all do not exceed. A time
/// that never came is infinite, and of those the first is as good as any.
pub fn at_share(figures: &[f64], share: f64) -> Option<u64> {
    at_share_of(figures, figures, share)
}

/// The same, where figures that are equal are told apart by those `beside` them: what was cut off may
/// become anything, but has come to more in one replication than in another.
pub fn at_share_of(figures: &[f64], beside: &[f64], share: f64) -> Option<u64> {
    let mut order: Vec<usize> = (0..figures.len()).filter(|r| !figures[*r].is_nan()).collect();
    let compare = |a: usize, b: usize| {
        figures[a].total_cmp(&figures[b]).then(beside[a].total_cmp(&beside[b]))
    };
    order.sort_by(|a, b| compare(*a, *b));
    let rank = ((order.len() as f64 * share).ceil() as usize).saturating_sub(1);
    let chosen = *order.get(rank)?;
    let alike = || order.iter().find(|other| compare(**other, chosen).is_eq());
    let chosen = if figures[chosen].is_infinite() { alike().copied()? } else { chosen };
    Some(chosen as u64)
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

/// Of the first configuration the replication in the middle of the first metric that varies: what a
/// reader wants to see first.
pub fn typical(scenario: &Scenario, stored: &Stored) -> Option<Record> {
    let column = stored.leading_column(0..1).or_else(|| stored.main_columns().first().copied())?;
    let figures = stored.times_or_never(0, column);
    let replication = at_share(&figures, 0.5);
    let figure = replication.map(|replication| figures[replication as usize]);
    let replication = replication.unwrap_or(0);
    let why = figure.map(|figure| {
        let scale = Scale::new(column.unit(), figure);
        let text =
            if figure.is_finite() { scale.bound(figure) } else { "that never came".to_owned() };
        format!("the median: {} {text}", column.title())
    });
    let record = Replayed::new(scenario, 0, replication).record(why.as_deref());
    // As it will be read back.
    Record::read(&record.json()).filter(|record| !record.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{at_share, at_share_of};

    #[test]
    fn one_that_never_came_is_worse_than_the_worst_that_did() {
        let never = f64::INFINITY;
        let figures = [3.0, never, 1.0, f64::NAN, never, 2.0];
        assert_eq!(at_share(&figures, 1.0), Some(1));
        assert_eq!(at_share(&figures, 0.5), Some(0));
        assert_eq!(at_share(&[3.0, f64::NAN, 1.0], 1.0), Some(0));
        assert_eq!(at_share(&[f64::NAN], 1.0), None);
    }

    #[test]
    fn of_those_that_were_cut_off_the_worst_is_what_had_come_to_most() {
        let (never, least) = (f64::INFINITY, [12.0, 14.0, 14.0, 9.0, 13.0]);
        let most = [never, never, never, 9.0, 13.0];
        assert_eq!(at_share_of(&most, &least, 1.0), Some(1));
        assert_eq!(at_share_of(&most, &least, 0.4), Some(4));
        assert_eq!(at_share_of(&most, &least, 0.6), Some(0));
    }
}
