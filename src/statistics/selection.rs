//! The best of several configurations, with a guaranteed probability of choosing right.
//!
//! The fully sequential procedure of Kim and Nelson (2001, ACM TOMACS 11, 251-273), with c = 1: a
//! configuration is dropped as soon as it is surely not the best, from its paired differences to
//! the others. Whenever the best mean is better than every other by at least the *indifference*
//! zone, it is chosen with probability at least the confidence; otherwise one that is no more
//! than that worse. The guarantee is exact for normal figures, dependent between configurations
//! in any way: common random numbers only make it faster.

use super::moments::Moments;
use super::rate::Rate;

/// What is chosen, and how surely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelectionSettings {
    /// Probability of choosing the best, or one within the indifference zone of it.
    pub confidence: f64,
    /// The difference of means that is worth detecting, above 0.
    pub indifference: f64,
    /// Whether less is better.
    pub least: bool,
    /// Whether each figure is 0 or 1. A first stage in which nothing happened then does not pass
    /// for one without variance: the variance of a difference is at least that of two rates
    /// with two hits and two misses more (Agresti and Coull 1998).
    pub rates: bool,
}

/// The variance of a value that is 0 or 1, from `values` with two of each added.
fn variance(values: &[f64]) -> f64 {
    let rate = Rate::of(values.iter().copied());
    let share = (rate.hits + 2) as f64 / (rate.trials + 4) as f64;
    share * (1.0 - share)
}

/// The state of a selection: who is left, after how many replications.
#[derive(Clone, Debug)]
pub struct Selection {
    settings: SelectionSettings,
    /// Replications of the first stage, from which the variances of differences come.
    first: usize,
    /// `h² S²` for each pair, row by row: the boundary in units of the indifference zone.
    boundary: Vec<f64>,
    count: usize,
    sums: Vec<f64>,
    replications: usize,
    /// For each configuration that was dropped: after how many replications.
    dropped: Vec<Option<usize>>,
}

impl Selection {
    /// From the first stage: for each configuration as many figures, at least two, paired by
    /// position. `None` if there are too few or not as many of each.
    #[must_use]
    pub fn new(settings: SelectionSettings, figures: &[Vec<f64>]) -> Option<Self> {
        let count = figures.len();
        let first = figures.first()?.len();
        if first < 2 || figures.iter().any(|values| values.len() != first) {
            return None;
        }
        let freedom = (first - 1) as f64;
        let others = count.saturating_sub(1).max(1) as f64;
        let share = 2.0 * (1.0 - settings.confidence) / others;
        let eta = 0.5 * (libm::pow(share, -2.0 / freedom) - 1.0);
        let scale = 2.0 * eta * freedom;
        let mut boundary = vec![0.0; count * count];
        for (i, here) in figures.iter().enumerate() {
            for (l, there) in figures.iter().enumerate() {
                let differences: Moments = here.iter().zip(there).map(|(a, b)| a - b).collect();
                let least = if settings.rates { variance(here) + variance(there) } else { 0.0 };
                boundary[i * count + l] = scale * differences.variance().max(least);
            }
        }
        let mut selection = Self {
            settings,
            first,
            boundary,
            count,
            sums: figures.iter().map(|values| values.iter().sum()).collect(),
            replications: first,
            dropped: vec![None; count],
        };
        selection.screen();
        Some(selection)
    }

    /// Takes the next replication: a figure for each configuration; those of dropped ones do not
    /// matter.
    pub fn add(&mut self, figures: &[f64]) {
        for ((sum, dropped), figure) in self.sums.iter_mut().zip(&self.dropped).zip(figures) {
            if dropped.is_none() {
                *sum += figure;
            }
        }
        self.replications += 1;
        self.screen();
    }

    /// The chosen configuration, once there is one.
    #[must_use]
    pub fn chosen(&self) -> Option<usize> {
        let left: Vec<usize> = self.left().collect();
        if let [only] = left[..] {
            return Some(only);
        }
        if self.replications <= self.most_needed() {
            return None;
        }
        left.into_iter().reduce(|best, other| if self.beats(other, best) { other } else { best })
    }

    /// The configurations that may still be the best.
    pub fn left(&self) -> impl Iterator<Item = usize> {
        self.dropped.iter().enumerate().filter(|(_, dropped)| dropped.is_none()).map(|(i, _)| i)
    }

    /// After how many replications a configuration was dropped.
    #[must_use]
    pub fn dropped(&self, configuration: usize) -> Option<usize> {
        self.dropped.get(configuration).copied().flatten()
    }

    /// Takes a configuration out that has no mean.
    pub fn leave_out(&mut self, configuration: usize) {
        self.dropped[configuration].get_or_insert(self.replications);
    }

    /// Replications so far.
    #[must_use]
    pub const fn replications(&self) -> usize {
        self.replications
    }

    /// After more replications than this a choice is made in any case.
    #[must_use]
    pub fn most_needed(&self) -> usize {
        let left: Vec<usize> = self.left().collect();
        let square = self.settings.indifference * self.settings.indifference;
        let pairs = left.iter().flat_map(|&i| left.iter().map(move |&l| (i, l)));
        let most = pairs
            .filter(|(i, l)| i != l)
            .map(|(i, l)| self.boundary[i * self.count + l] / square)
            .fold(0.0, f64::max);
        (most.floor() as usize).max(self.first.saturating_sub(1))
    }

    fn beats(&self, here: usize, there: usize) -> bool {
        if self.settings.least {
            self.sums[here] < self.sums[there]
        } else {
            self.sums[here] > self.sums[there]
        }
    }

    /// Drops whoever is surely not the best.
    fn screen(&mut self) {
        let replications = self.replications as f64;
        let left: Vec<usize> = self.left().collect();
        let zone = self.settings.indifference;
        let mut drop = Vec::new();
        for &i in &left {
            let worse_than = |l: usize| {
                let gap = (self.sums[i] - self.sums[l]) / replications;
                let behind = if self.settings.least { gap } else { -gap };
                let width = zone / (2.0 * replications)
                    * (self.boundary[i * self.count + l] / (zone * zone) - replications);
                behind > width.max(0.0)
            };
            if left.iter().any(|&l| l != i && worse_than(l)) {
                drop.push(i);
            }
        }
        for i in drop {
            self.dropped[i] = Some(self.replications);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution, StandardNormal};

    use super::*;
    use crate::engine::{Stream, StreamSeed};

    /// Normal figures with a common part, as common random numbers give them.
    fn figures(stream: &mut Stream, means: &[f64], shared: f64) -> Vec<f64> {
        let common: f64 = StandardNormal.sample(stream);
        means
            .iter()
            .map(|mean| {
                let own: f64 = StandardNormal.sample(stream);
                mean + shared * common + (1.0 - shared * shared).sqrt() * own
            })
            .collect()
    }

    fn select(
        seed: u64,
        means: &[f64],
        settings: SelectionSettings,
        shared: f64,
    ) -> (usize, usize) {
        let mut stream = StreamSeed { master: 11, replication: seed }.stream("selection", "data");
        let mut first = vec![Vec::new(); means.len()];
        for _ in 0..20 {
            for (values, figure) in first.iter_mut().zip(figures(&mut stream, means, shared)) {
                values.push(figure);
            }
        }
        let mut selection = Selection::new(settings, &first).unwrap();
        loop {
            if let Some(chosen) = selection.chosen() {
                return (chosen, selection.replications());
            }
            let next = figures(&mut stream, means, shared);
            selection.add(&next);
        }
    }

    const SETTINGS: SelectionSettings =
        SelectionSettings { confidence: 0.95, indifference: 0.5, least: true, rates: false };

    #[test]
    fn the_best_is_chosen_as_often_as_promised_where_it_is_hardest() {
        // The slippage configuration: all others exactly the indifference zone worse.
        let means = [0.5, 0.5, 0.0, 0.5, 0.5];
        let right = (0..400).filter(|&seed| select(seed, &means, SETTINGS, 0.5).0 == 2).count();
        assert!(right >= 380, "{right} of 400");
    }

    #[test]
    fn common_random_numbers_save_replications() {
        let means = [0.0, 0.1, 0.2];
        let settings = SelectionSettings { indifference: 0.1, ..SETTINGS };
        let mean = |shared: f64| -> f64 {
            (0..20).map(|seed| select(seed, &means, settings, shared).1 as f64).sum::<f64>() / 20.0
        };
        assert!(mean(0.9) < 0.5 * mean(0.0), "{} {}", mean(0.9), mean(0.0));
    }

    #[test]
    fn the_greatest_is_chosen_when_more_is_better() {
        let settings = SelectionSettings { least: false, ..SETTINGS };
        assert_eq!(select(1, &[0.0, 3.0, 1.0], settings, 0.0).0, 1);
    }

    #[test]
    fn rates_of_which_nothing_happened_yet_are_not_decided_at_once() {
        let nothing = vec![vec![0.0; 20]; 2];
        let settings = SelectionSettings { indifference: 0.02, ..SETTINGS };
        let decided = |rates| {
            let settings = SelectionSettings { rates, ..settings };
            Selection::new(settings, &nothing).unwrap().chosen().is_some()
        };
        assert!(decided(false) && !decided(true));
    }

    #[test]
    fn figures_that_do_not_vary_are_decided_at_once() {
        let first = [vec![2.0; 5], vec![1.0; 5], vec![3.0; 5]];
        let selection = Selection::new(SETTINGS, &first).unwrap();
        assert_eq!((selection.chosen(), selection.replications()), (Some(1), 5));
        assert_eq!(selection.dropped(0), Some(5));
    }

    #[test]
    fn equals_end_in_a_choice_too() {
        let (_, replications) = select(3, &[1.0, 1.0], SETTINGS, 0.0);
        assert!(replications < 1_000);
        assert!(Selection::new(SETTINGS, &[vec![1.0], vec![2.0]]).is_none());
    }
}
