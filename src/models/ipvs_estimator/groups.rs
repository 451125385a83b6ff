//! Groups of services: which service has which rate, and when that changes.

use rand_distr::{Distribution as _, StandardNormal};

use super::config::{ServiceGroup, Step, Traffic};
use super::prices::uniform;
use crate::engine::{SimDuration, SimTime, Stream};

/// A change of the rates of a group.
#[derive(Clone, Copy, Debug)]
struct Change {
    at: SimTime,
    spread_s: f64,
    /// The rate from then on over the first.
    factor: f64,
}

impl Change {
    /// When the service at `phase` within the spread changes.
    fn time(&self, phase: f64) -> SimTime {
        self.at.saturating_add(SimDuration::from_seconds(self.spread_s * phase))
    }
}

/// A group ready for drawing.
#[derive(Clone, Debug)]
pub(super) struct Group {
    share: f64,
    rate: f64,
    /// Of the lognormal factor of each service, with mean 1.
    sigma: f64,
    changes: Vec<Change>,
    /// What the group still has to get of the services that were dealt out.
    owed: f64,
}

/// What a service counts between two reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    /// Seconds, each as often as the rate in it is of the first.
    pub weighted_s: f64,
    /// The rate at the end over the first.
    pub factor: f64,
    /// It changes after the first read, up to the instant of the second.
    pub changes: bool,
    /// It changes between the two.
    pub changes_inside: bool,
}

impl Group {
    fn of(group: &ServiceGroup) -> Self {
        let change = |change: &Step| Change {
            at: SimTime::ZERO.saturating_add(change.at),
            spread_s: change.spread.as_seconds(),
            factor: change.factor,
        };
        Self {
            share: group.share,
            rate: group.rate.as_per_second(),
            sigma: libm::sqrt(libm::log1p(group.rate_cv * group.rate_cv)),
            changes: group.changes.iter().map(change).collect(),
            owed: 0.0,
        }
    }

    /// A service's rate.
    pub fn draw_rate(&self, random: &mut Stream) -> f64 {
        if self.sigma <= 0.0 {
            return self.rate;
        }
        let z: f64 = StandardNormal.sample(random);
        self.rate * libm::exp(self.sigma * z - self.sigma * self.sigma / 2.0)
    }

    /// Where within the spread of a change a service changes.
    pub fn draw_phase(&self, random: &mut Stream) -> f64 {
        if self.changes.is_empty() { 0.0 } else { uniform(random) }
    }

    /// What a service at `phase` counts from `read` to `at`.
    pub fn interval(&self, phase: f64, read: SimTime, at: SimTime) -> Interval {
        let mut interval =
            Interval { weighted_s: 0.0, factor: 1.0, changes: false, changes_inside: false };
        let mut from = read;
        for change in &self.changes {
            let time = change.time(phase);
            if time > at {
                break;
            }
            if time > read {
                interval.weighted_s += interval.factor * time.since(from).as_seconds();
                interval.changes = true;
                interval.changes_inside |= time < at;
                from = time;
            }
            interval.factor = change.factor;
        }
        interval.weighted_s += interval.factor * at.since(from).as_seconds();
        interval
    }

    /// Since when a service at `phase` has had the rate that it has at `now`, and that rate over
    /// the first.
    pub fn state(&self, phase: f64, now: SimTime) -> (SimTime, f64) {
        let past = |change: &&Change| change.time(phase) <= now;
        let last = self.changes.iter().take_while(past).last();
        last.map_or((SimTime::ZERO, 1.0), |change| (change.time(phase), change.factor))
    }
}

/// All groups.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    groups: Vec<Group>,
}

impl Groups {
    pub fn new(traffic: &Traffic) -> Self {
        Self { groups: traffic.resolved().iter().map(Group::of).collect() }
    }

    pub fn get(&self, index: u8) -> &Group {
        &self.groups[usize::from(index)]
    }

    /// No service has been dealt out.
    pub fn restart(&mut self) {
        self.groups.iter_mut().for_each(|group| group.owed = 0.0);
    }

    /// The group of the next service: the one that is owed most, the first of several. So each has
    /// its share of any run of services, to within one.
    pub fn next(&mut self) -> (u8, &Group) {
        let all: f64 = self.groups.iter().map(|group| group.share).sum();
        let mut most = 0;
        for index in 0..self.groups.len() {
            self.groups[index].owed += self.groups[index].share;
            if self.groups[index].owed > self.groups[most].owed {
                most = index;
            }
        }
        self.groups[most].owed -= all;
        (most as u8, &self.groups[most])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::StreamSeed;

    fn seconds(seconds: f64) -> SimTime {
        SimTime::ZERO.saturating_add(SimDuration::from_seconds(seconds))
    }

    fn change(at: u64, factor: f64) -> Step {
        Step { at: SimDuration::from_whole_seconds(at), spread: SimDuration::ZERO, factor }
    }

    #[test]
    fn services_are_dealt_out_in_proportion_to_the_shares() {
        let group = |share| ServiceGroup { share, ..ServiceGroup::default() };
        let traffic =
            Traffic { groups: vec![group(1.0), group(7.0), group(2.0)], ..Traffic::default() };
        let mut groups = Groups::new(&traffic);
        let mut counts = [0; 3];
        for dealt in 1..=100 {
            counts[usize::from(groups.next().0)] += 1;
            for (count, share) in counts.iter().zip([0.1, 0.7, 0.2]) {
                assert!((f64::from(*count) - share * f64::from(dealt)).abs() < 1.0);
            }
        }
        assert_eq!(counts, [10, 70, 20]);
    }

    #[test]
    fn an_interval_counts_each_rate_for_its_time() {
        let changes = vec![change(3, 2.0), change(5, 0.5), change(9, 4.0)];
        let group = Group::of(&ServiceGroup { changes, ..ServiceGroup::default() });
        let interval = group.interval(0.0, seconds(2.0), seconds(8.0));
        assert!((interval.weighted_s - (1.0 + 2.0 * 2.0 + 0.5 * 3.0)).abs() < 1e-12);
        assert_eq!((interval.factor, interval.changes, interval.changes_inside), (0.5, true, true));
        let before = group.interval(0.0, seconds(1.0), seconds(3.0));
        assert_eq!((before.factor, before.changes, before.changes_inside), (2.0, true, false));
        let after = group.interval(0.0, seconds(9.0), seconds(11.0));
        assert_eq!((after.factor, after.changes, after.weighted_s), (4.0, false, 8.0));
        assert_eq!(group.state(0.0, seconds(4.0)), (seconds(3.0), 2.0));
        assert_eq!(group.state(0.0, seconds(2.0)), (SimTime::ZERO, 1.0));
    }

    #[test]
    fn rates_within_a_group_have_the_mean_and_the_variation_asked_for() {
        let group = Group::of(&ServiceGroup { rate_cv: 0.5, ..ServiceGroup::default() });
        let mut random = StreamSeed::default().stream("test", "rate");
        let draws: Vec<f64> = (0..20_000).map(|_| group.draw_rate(&mut random)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 19_999.0;
        assert!((mean / 1000.0 - 1.0).abs() < 0.015, "{mean}");
        assert!((variance.sqrt() / 500.0 - 1.0).abs() < 0.05, "{variance}");
    }
}
