//! What the estimators report, for those that are followed one by one.
//!
//! An estimate takes what was counted since the last one as the count of 2 s, whatever time has
//! really passed, and moves the reported rate a quarter of the way to it. Source: `ip_vs_est.c`,
//! `ip_vs_chain_estimation` (kthreads) and `estimation_timer` (old timer). The kernel's fixed-point
//! rounding, at most 3/1024 of a unit per second, is left out.

use super::config::{Arrivals, Traffic};
use super::groups::Groups;
use super::layout::Tag;
use super::prices::poisson;
use super::summary::Summary;
use crate::engine::{SimDuration, SimTime, Stream};

/// Seconds that an estimate takes to have passed.
const PERIOD_S: f64 = 2.0;
/// Share of the difference by which an estimate moves the reported rate.
const WEIGHT: f64 = 0.25;

/// A followed estimator.
#[derive(Clone, Copy, Debug)]
struct Followed {
    added: SimTime,
    linked: SimTime,
    /// When its row was due first as of its linking.
    due: SimTime,
    /// Until when its counters have been read.
    read: SimTime,
    /// Which group it belongs to.
    group: u8,
    /// Its rate as long as nothing has changed it.
    rate: f64,
    /// Where within the spread of each change it changes: 0 to 1.
    phase: f64,
    estimates: u32,
    reported: f64,
    /// Since which estimate the reported rate has been within the tolerance.
    close_since: Option<SimTime>,
    exists: bool,
}

/// Parts of the mean time to the first estimate, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct FirstEstimateParts {
    pub temp_list: f64,
    pub row: f64,
    pub late: f64,
}

/// The followed estimators and what came of them.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    groups: Groups,
    /// The user has divided the services into groups.
    grouped: bool,
    poisson: bool,
    tolerance: f64,
    warm_up: SimTime,
    followed: Vec<Followed>,
    pub first_estimate: Summary,
    pub first_parts: FirstEstimateParts,
    /// First raw rate over the true one.
    pub first_raw: Mean,
    /// Deviation of a raw rate from the true one after the warm-up, in whole intervals without a
    /// step.
    pub raw_error: Mean,
}

/// A mean with its greatest value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Mean {
    count: u64,
    sum: f64,
    greatest: f64,
}

impl Mean {
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.greatest = if self.count == 1 { value } else { self.greatest.max(value) };
    }

    /// NaN when there was none.
    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// NaN when there was none.
    pub fn greatest(&self) -> f64 {
        if self.count == 0 { f64::NAN } else { self.greatest }
    }
}

/// How well the estimators that report do so at an instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Accuracy {
    /// Reported over true rate.
    pub ratio: Mean,
    /// Relative error.
    pub error: Mean,
    /// Share of the followed estimators whose rate has not converged.
    pub unconverged: f64,
    /// Seconds from the step or the addition until the rate was close for good, ascending.
    pub convergence: Vec<f64>,
}

impl Accuracy {
    /// Mean seconds to convergence; NaN when no rate converged.
    pub fn mean_convergence(&self) -> f64 {
        self.convergence.iter().sum::<f64>() / self.convergence.len() as f64
    }

    /// The least time within which `share` of those that converged did; NaN when none did.
    pub fn convergence_quantile(&self, share: f64) -> f64 {
        let rank = (share * self.convergence.len() as f64).ceil() as usize;
        self.convergence.get(rank.max(1) - 1).copied().unwrap_or(f64::NAN)
    }
}

impl Rates {
    pub fn new(traffic: &Traffic, warm_up: SimDuration) -> Self {
        Self {
            groups: Groups::new(traffic),
            grouped: !traffic.groups.is_empty(),
            poisson: traffic.arrivals == Arrivals::Poisson,
            tolerance: traffic.tolerance,
            warm_up: SimTime::ZERO.saturating_add(warm_up),
            followed: Vec::new(),
            first_estimate: Summary::default(),
            first_parts: FirstEstimateParts::default(),
            first_raw: Mean::default(),
            raw_error: Mean::default(),
        }
    }

    /// Follows `count` estimators from scratch; `phases` draws when in the spread of a change each
    /// one's rate changes, `rates` how its rate differs from that of its group.
    pub fn reset(&mut self, count: usize, phases: &mut Stream, rates: &mut Stream) {
        self.followed.clear();
        self.groups.restart();
        for _ in 0..count {
            let (index, group) = self.groups.next();
            self.followed.push(Followed {
                added: SimTime::ZERO,
                linked: SimTime::MAX,
                due: SimTime::MAX,
                read: SimTime::ZERO,
                group: index,
                rate: group.draw_rate(rates),
                phase: group.draw_phase(phases),
                estimates: 0,
                reported: 0.0,
                close_since: None,
                exists: false,
            });
        }
        self.first_estimate.clear();
        self.first_parts = FirstEstimateParts::default();
        self.first_raw = Mean::default();
        self.raw_error = Mean::default();
    }

    /// The service was added: it counts from now on.
    pub fn added(&mut self, tag: Tag, now: SimTime) {
        let followed = &mut self.followed[tag as usize];
        followed.exists = true;
        followed.added = now;
        followed.read = now;
    }

    pub fn removed(&mut self, tag: Tag) {
        self.followed[tag as usize].exists = false;
    }

    /// The estimator was linked into a row that is due at `due`.
    pub fn linked(&mut self, tag: Tag, now: SimTime, due: SimTime) {
        let followed = &mut self.followed[tag as usize];
        followed.linked = now;
        followed.due = due.max(now);
    }

    /// The estimator was read at `at` in a pass over its row that began at `begin`. One linked
    /// after that is not in the pass.
    pub fn estimate(&mut self, tag: Tag, begin: SimTime, at: SimTime, random: &mut Stream) {
        let followed = &mut self.followed[tag as usize];
        if !followed.exists || followed.linked > begin {
            return;
        }
        let group = self.groups.get(followed.group);
        let interval = group.interval(followed.phase, followed.read, at);
        let expected = followed.rate * interval.weighted_s;
        let counted = if self.poisson { poisson(expected, random) } else { expected };
        let raw = counted / PERIOD_S;
        let whole_interval = followed.estimates > 0 && !interval.changes_inside;
        let first = followed.estimates == 0;
        followed.estimates = followed.estimates.saturating_add(1);
        followed.reported += (raw - followed.reported) * WEIGHT;
        // What was reported before a change says nothing about the rate after it.
        if interval.changes {
            followed.close_since = None;
        }
        followed.read = at;
        let truth = followed.rate * interval.factor;
        if first {
            self.first_raw.add(raw / truth);
            self.first_estimate.add(at.since(followed.added));
            let due = followed.due.min(at);
            self.first_parts.temp_list += followed.linked.since(followed.added).as_seconds();
            self.first_parts.row += due.since(followed.linked).as_seconds();
            self.first_parts.late += at.since(due).as_seconds();
        } else if whole_interval && at >= self.warm_up {
            self.raw_error.add((raw / truth - 1.0).abs());
        }
        let scale = if truth > 0.0 { truth } else { followed.rate };
        let close = (followed.reported - truth).abs() <= self.tolerance * scale;
        followed.close_since = close.then(|| followed.close_since.unwrap_or(at));
    }

    /// How well the rates of a group, or of all, are reported at `now`.
    pub fn accuracy(&self, now: SimTime, of: Option<u8>) -> Accuracy {
        let mut accuracy = Accuracy::default();
        let (mut there, mut unconverged) = (0_u32, 0_u32);
        let counts =
            |followed: &&Followed| followed.exists && of.is_none_or(|of| of == followed.group);
        for followed in self.followed.iter().filter(counts) {
            let group = self.groups.get(followed.group);
            let (changed, factor) = group.state(followed.phase, now);
            there += 1;
            match followed.close_since.filter(|&since| since >= changed) {
                None => unconverged += 1,
                Some(since) => {
                    let began = followed.added.max(changed);
                    accuracy.convergence.push(since.since(began).as_seconds());
                }
            }
            let truth = followed.rate * factor;
            if followed.estimates > 0 && truth > 0.0 {
                let ratio = followed.reported / truth;
                accuracy.ratio.add(ratio);
                accuracy.error.add((ratio - 1.0).abs());
            }
        }
        accuracy.convergence.sort_unstable_by(f64::total_cmp);
        accuracy.unconverged = f64::from(unconverged) / f64::from(there);
        accuracy
    }

    /// The same of the group with this number; of nothing where there are no groups.
    pub fn accuracy_of_group(&self, now: SimTime, group: usize) -> Accuracy {
        if self.grouped {
            return self.accuracy(now, Some(group as u8));
        }
        Accuracy { unconverged: f64::NAN, ..Accuracy::default() }
    }

    /// True when the rate of every followed estimator that exists has stayed close to the true one
    /// since the last change that is to come.
    pub fn all_converged(&self) -> bool {
        self.followed.iter().all(|followed| self.has_converged(followed))
    }

    /// How many of the followed estimators that exist report no rate close to the true one.
    pub fn not_converged(&self) -> u64 {
        self.followed.iter().filter(|followed| !self.has_converged(followed)).count() as u64
    }

    fn has_converged(&self, followed: &Followed) -> bool {
        let (changed, _) = self.groups.get(followed.group).state(followed.phase, SimTime::MAX);
        !followed.exists || followed.close_since.is_some_and(|since| since >= changed)
    }

    /// Mean parts of the time to the first estimate; NaN when there was none.
    pub fn mean_first_parts(&self) -> FirstEstimateParts {
        let count = self.first_estimate.count() as f64;
        FirstEstimateParts {
            temp_list: self.first_parts.temp_list / count,
            row: self.first_parts.row / count,
            late: self.first_parts.late / count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::StreamSeed;

    fn seconds(seconds: f64) -> SimTime {
        SimTime::ZERO.saturating_add(SimDuration::from_seconds(seconds))
    }

    fn follow(traffic: &Traffic) -> (Rates, Stream) {
        let mut random = StreamSeed::default().stream("test", "rates");
        let mut rates = Rates::new(traffic, SimDuration::ZERO);
        rates.reset(1, &mut random.clone(), &mut random);
        rates.added(0, SimTime::ZERO);
        rates.linked(0, SimTime::ZERO, SimTime::ZERO);
        (rates, random)
    }

    #[test]
    fn after_n_periods_the_reported_rate_is_1_minus_three_quarters_to_the_n_of_the_true_one() {
        let (mut rates, mut random) = follow(&Traffic::default());
        let mut short_of = 1.0;
        for period in 1..=16 {
            let at = seconds(2.0 * f64::from(period));
            rates.estimate(0, at, at, &mut random);
            short_of *= 0.75;
            let ratio = rates.accuracy(at, None).ratio.mean();
            assert!((ratio - (1.0 - short_of)).abs() < 1e-12, "{period}");
        }
        // n = 4: 68 %, n = 8: 90 %, n = 16: 99 %. Within 5 % after 11 periods.
        assert_eq!(rates.accuracy(seconds(32.0), None).mean_convergence(), 22.0);
    }

    #[test]
    fn a_shortened_first_interval_reports_too_little() {
        let (mut rates, mut random) = follow(&Traffic::default());
        let at = seconds(0.040 * 30.0);
        rates.estimate(0, at, at, &mut random);
        assert!((rates.first_raw.mean() - 30.0 / 50.0).abs() < 1e-12);
    }

    #[test]
    fn an_interval_of_t_instead_of_2_s_is_off_by_t_over_2() {
        let (mut rates, mut random) = follow(&Traffic::default());
        for at in [2.0, 4.040] {
            let at = seconds(at);
            rates.estimate(0, at, at, &mut random);
        }
        assert!((rates.raw_error.greatest() - 0.02).abs() < 1e-12);
    }

    #[test]
    fn an_estimator_linked_during_a_pass_is_not_in_it() {
        let (mut rates, mut random) = follow(&Traffic::default());
        rates.linked(0, seconds(1.5), seconds(3.0));
        rates.estimate(0, seconds(1.0), seconds(2.0), &mut random);
        assert!(rates.first_estimate.mean().is_nan());
    }
}
