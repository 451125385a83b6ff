//! The best of several points.

use std::io;

use super::Settings;
use super::probe::estimate;
use super::source::Source;
use crate::experiment::Batch;
use crate::experiment::known::Known;
use crate::scenario::Statistic;
use crate::statistics::Estimate;
use crate::statistics::selection::{Selection, SelectionSettings};

/// What is best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// Whether less is better.
    pub least: bool,
    /// The difference of means that is worth detecting, in the metric's unit, above 0.
    pub indifference: f64,
    /// The mean of what: [`Statistic::Mean`], or a probability.
    pub statistic: Statistic,
}

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// This one.
    One(usize),
    /// The most replications allowed don't tell those apart that are left; a choice needs at most
    /// so many.
    Open {
        /// After how many replications of each there would be a choice in any case.
        needed: u64,
    },
    /// In each some replications have no figure.
    NoCandidate,
}

/// A candidate and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its mean over its replications, with its interval at the confidence.
    pub mean: Estimate,
    /// How many replications it has.
    pub replications: u64,
    /// How many of them have no figure. Such a candidate is left out.
    pub missing: u64,
    /// After how many replications it was surely not the best.
    pub dropped: Option<u64>,
}

/// The selection with all that it rests on.
#[derive(Clone, Debug)]
pub struct Best {
    /// What came out.
    pub chosen: Chosen,
    /// All candidates, in the order given.
    pub candidates: Vec<Candidate>,
}

/// Replications that are run before the figures are looked at again. The choice does not depend on
/// it, as they are still taken one by one.
const BLOCK: u64 = 50;

/// Selects the best mean of `count` points.
///
/// # Errors
/// The first error of the source.
pub fn best<S: Source>(
    source: &mut S,
    count: usize,
    objective: Objective,
    settings: Settings,
) -> io::Result<Best> {
    let first = settings.fewest.max(2);
    let batches: Vec<Batch> =
        (0..count).map(|point| Batch { point, replications: 0..first }).collect();
    let mut figures: Vec<Vec<f64>> =
        source.figures(&batches)?.iter().map(|figures| exact(figures)).collect();
    let mut missing: Vec<u64> = figures
        .iter()
        .map(|values| values.iter().filter(|value| !value.is_finite()).count() as u64)
        .collect();
    let taken: Vec<usize> = (0..count).filter(|&point| missing[point] == 0).collect();
    let selection_settings = SelectionSettings {
        confidence: settings.confidence,
        indifference: objective.indifference,
        least: objective.least,
        rates: objective.statistic != Statistic::Mean,
    };
    let start: Vec<Vec<f64>> = taken.iter().map(|&point| figures[point].clone()).collect();
    let selection = Selection::new(selection_settings, &start);
    let (chosen, dropped) = match selection {
        Some(mut selection) => {
            let chosen = {
                let all = (&mut figures[..], &mut missing[..]);
                go_on(source, &mut selection, &taken, all, settings.most)?
            };
            let dropped = |point: usize| {
                let place = taken.iter().position(|&taken| taken == point)?;
                selection.dropped(place).map(|replications| replications as u64)
            };
            (chosen, (0..count).map(dropped).collect())
        }
        None => (Chosen::NoCandidate, vec![None; count]),
    };
    let candidate = |(point, dropped): (usize, Option<u64>)| Candidate {
        mean: estimate(&figures[point], objective.statistic, settings.confidence),
        replications: figures[point].len() as u64,
        missing: missing[point],
        dropped,
    };
    let candidates = (0..count).zip(dropped).map(candidate).collect();
    Ok(Best { chosen, candidates })
}

/// The figures; NaN where one is not known.
fn exact(figures: &[Known]) -> Vec<f64> {
    figures.iter().map(|figure| figure.exact()).collect()
}

/// Adds replications until there is a choice or the most allowed are run.
fn go_on<S: Source>(
    source: &mut S,
    selection: &mut Selection,
    taken: &[usize],
    (figures, missing): (&mut [Vec<f64>], &mut [u64]),
    most: u64,
) -> io::Result<Chosen> {
    loop {
        if let Some(chosen) = selection.chosen() {
            return Ok(Chosen::One(taken[chosen]));
        }
        let done = selection.replications() as u64;
        if done >= most {
            return Ok(Chosen::Open { needed: selection.most_needed() as u64 + 1 });
        }
        let replications = done..(done + BLOCK).min(most);
        let left: Vec<usize> = selection.left().collect();
        let batches: Vec<Batch> = left
            .iter()
            .map(|&place| Batch { point: taken[place], replications: replications.clone() })
            .collect();
        let mut block = vec![Vec::new(); taken.len()];
        for (&place, values) in left.iter().zip(&source.figures(&batches)?) {
            let values = exact(values);
            figures[taken[place]].extend(&values);
            let without = values.iter().filter(|value| !value.is_finite()).count() as u64;
            if without > 0 {
                // It has no mean, as little as one that lacks a figure in the first stage.
                missing[taken[place]] += without;
                selection.leave_out(place);
            }
            block[place] = values;
        }
        if selection.left().next().is_none() {
            return Ok(Chosen::NoCandidate);
        }
        let length = (replications.end - replications.start) as usize;
        for replication in 0..length {
            let of = |values: &Vec<f64>| values.get(replication).copied().unwrap_or(f64::NAN);
            let next: Vec<f64> = block.iter().map(of).collect();
            selection.add(&next);
            if selection.chosen().is_some() {
                break;
            }
        }
    }
}
