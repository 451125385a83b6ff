//! Bisection over an ascending list of values.

use std::collections::BTreeMap;
use std::io;

use super::Settings;
use super::probe::{Meets, Probe};
use super::shape::{Shape, Step, shape, steps};
use super::source::Source;
use crate::experiment::Batch;
use crate::experiment::known::Known;
use crate::scenario::target::Target;

/// Values looked at before bisection, to see how the figure goes.
const SCAN: usize = 5;
/// Where the figure is not monotone, all values are tried if there are no more than this.
pub const MOST_TRIED: usize = 64;

/// Which of the values that meet the target is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The largest.
    Largest,
    /// The smallest.
    Smallest,
}

/// What came out. Indices are those of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// `meets` does; its neighbour `fails` does not.
    Exactly {
        /// The wanted value.
        meets: usize,
        /// The next one.
        fails: usize,
    },
    /// The last of the values meets it, so there is nothing beyond to look for.
    Last(usize),
    /// `meets` does, `fails` does not (if there is such a value); those in between are undecided.
    Between {
        /// The last value that surely meets the target.
        meets: Option<usize>,
        /// The first value that surely does not.
        fails: Option<usize>,
    },
    /// No value meets it.
    Nowhere,
    /// The figure goes up and down, and there are too many values to try all.
    NotMonotone,
}

impl Answer {
    /// The value to use: one that surely meets the target.
    #[must_use]
    pub const fn value(self) -> Option<usize> {
        match self {
            Self::Exactly { meets, .. } | Self::Last(meets) => Some(meets),
            Self::Between { meets, .. } => meets,
            Self::Nowhere | Self::NotMonotone => None,
        }
    }
}

/// An answer with all that it rests on.
#[derive(Clone, Debug)]
pub struct Solution {
    /// What came out.
    pub answer: Answer,
    /// Every value that was run, ascending.
    pub probes: Vec<Probe>,
    /// The steps between them, with intervals that hold together at the confidence.
    pub steps: Vec<Step>,
    /// What the steps amount to.
    pub shape: Shape,
    /// Whether every value was tried, because the figure is not monotone.
    pub tried_all: bool,
    /// The change from the one end of the answer to the other, over pairs of replications, at the
    /// confidence.
    pub across: Option<Step>,
}

/// A search for the largest or smallest value that meets a target.
///
/// Values are handled by *position*: position 0 is where the target is met most easily if it
/// depends on the parameter as the goal supposes, so the wanted value always is the last position
/// that meets.
pub struct Search<'s, S> {
    source: &'s mut S,
    target: Target,
    goal: Goal,
    settings: Settings,
    count: usize,
    probes: BTreeMap<usize, Probe>,
}

impl<'s, S: Source> Search<'s, S> {
    /// Among `count` values, at least one, in ascending order.
    pub fn new(
        source: &'s mut S,
        count: usize,
        target: Target,
        goal: Goal,
        settings: Settings,
    ) -> Self {
        Self { source, target, goal, settings, count, probes: BTreeMap::new() }
    }

    /// Finds the answer.
    ///
    /// # Errors
    /// The first error of the source.
    pub fn solve(mut self) -> io::Result<Solution> {
        self.scan()?;
        if matches!(shape(&self.steps()), Shape::Mixed { .. }) {
            return self.not_monotone();
        }
        let answer = self.bisect()?;
        let steps = self.steps();
        if matches!(shape(&steps), Shape::Mixed { .. }) || self.contradicts() {
            return self.not_monotone();
        }
        Ok(self.solution(answer, steps, false))
    }

    /// The value at a position, and the other way round.
    const fn mirrored(&self, index: usize) -> usize {
        match self.goal {
            Goal::Largest => index,
            Goal::Smallest => self.count - 1 - index,
        }
    }

    fn scan(&mut self) -> io::Result<()> {
        let most = SCAN.min(self.count);
        let last = self.count - 1;
        let values: Vec<usize> =
            (0..most).map(|at| last * at / most.saturating_sub(1).max(1)).collect();
        self.first_look(&values)
    }

    /// The first look at several values at once.
    fn first_look(&mut self, values: &[usize]) -> io::Result<()> {
        let fewest = self.settings.looks().next().unwrap_or(1);
        let new = values.iter().filter(|value| !self.probes.contains_key(value));
        let batches: Vec<Batch> =
            new.map(|&point| Batch { point, replications: 0..fewest }).collect();
        let figures = self.source.figures(&batches)?;
        for (batch, figures) in batches.iter().zip(figures) {
            self.take(batch.point, figures);
        }
        Ok(())
    }

    fn take(&mut self, value: usize, figures: Vec<Known>) {
        let probe = Probe::new(value, figures, &self.target, self.settings.each());
        self.probes.insert(value, probe);
    }

    /// Whether the value at `position` meets the target, with as many replications as that takes.
    fn decide(&mut self, position: usize) -> io::Result<Meets> {
        let value = self.mirrored(position);
        self.first_look(&[value])?;
        let looks: Vec<u64> = self.settings.looks().collect();
        for replications in looks {
            let Some(probe) = self.probes.get(&value) else { break };
            let done = probe.figures.len() as u64;
            if probe.meets != Meets::Undecided {
                break;
            }
            if replications <= done {
                continue;
            }
            let batch = Batch { point: value, replications: done..replications };
            let mut figures = probe.figures.clone();
            figures.extend(self.source.figures(&[batch])?.into_iter().flatten());
            self.take(value, figures);
        }
        Ok(self.known(position))
    }

    /// What is known about a position that was run.
    fn known(&self, position: usize) -> Meets {
        self.probes.get(&self.mirrored(position)).map_or(Meets::Undecided, |probe| probe.meets)
    }

    fn bisect(&mut self) -> io::Result<Answer> {
        let last = self.count - 1;
        if self.decide(last)? == Meets::Yes {
            return Ok(Answer::Last(self.mirrored(last)));
        }
        let first = self.decide(0)?;
        if first == Meets::No {
            return Ok(if self.known(last) == Meets::No {
                Answer::Nowhere
            } else {
                // It may be met at the far end only.
                Answer::Between { meets: None, fails: None }
            });
        }
        // The last position that surely meets: what is undecided counts as not meeting.
        let all = || (0..self.count).rev();
        let mut meets = all().find(|&position| self.known(position) == Meets::Yes);
        if let Some(low) = &mut meets {
            let mut high = self.first_failing(*low).unwrap_or(last);
            while high - *low > 1 {
                let middle = *low + (high - *low) / 2;
                match self.decide(middle)? {
                    Meets::Yes => *low = middle,
                    _ => high = middle,
                }
            }
        }
        // The first position that surely does not: what is undecided counts as meeting.
        let mut fails = self.first_failing(meets.unwrap_or(0));
        if let Some(high) = &mut fails {
            let mut low = meets.unwrap_or(0);
            while *high - low > 1 {
                let middle = low + (*high - low) / 2;
                match self.decide(middle)? {
                    Meets::No => *high = middle,
                    _ => low = middle,
                }
            }
        }
        Ok(self.between(meets, fails))
    }

    /// The first position beyond `from` that is known not to meet the target.
    fn first_failing(&self, from: usize) -> Option<usize> {
        (from + 1..self.count).find(|&position| self.known(position) == Meets::No)
    }

    /// The answer from the positions at its two ends.
    fn between(&self, meets: Option<usize>, fails: Option<usize>) -> Answer {
        match (meets, fails) {
            (Some(meets), Some(fails)) if fails == meets + 1 => {
                Answer::Exactly { meets: self.mirrored(meets), fails: self.mirrored(fails) }
            }
            (meets, fails) => Answer::Between {
                meets: meets.map(|position| self.mirrored(position)),
                fails: fails.map(|position| self.mirrored(position)),
            },
        }
    }

    /// True when a position that meets comes after one that does not, other than by the figure
    /// going the other way all along.
    fn contradicts(&self) -> bool {
        let known = || (0..self.count).filter(|&p| self.known(p) != Meets::Undecided);
        let changes = known().zip(known().skip(1)).filter(|&(a, b)| self.known(a) != self.known(b));
        changes.count() > 1
    }

    fn steps(&self) -> Vec<Step> {
        let probes: Vec<&Probe> = self.probes.values().collect();
        steps(&probes, self.target.figure.statistic, self.settings.confidence)
    }

    /// Tries all values if there are few enough.
    fn not_monotone(mut self) -> io::Result<Solution> {
        if self.count > MOST_TRIED {
            let steps = self.steps();
            return Ok(self.solution(Answer::NotMonotone, steps, false));
        }
        for position in 0..self.count {
            self.decide(position)?;
        }
        let positions = || (0..self.count).rev();
        let meets = positions().find(|&position| self.known(position) == Meets::Yes);
        let answer = match meets {
            Some(last) if last == self.count - 1 => Answer::Last(self.mirrored(last)),
            // The first one beyond which none meets.
            Some(meets) => {
                let undecided = positions().find(|&p| self.known(p) != Meets::No);
                let fails = undecided.map(|p| p + 1).filter(|&p| p < self.count);
                self.between(Some(meets), fails)
            }
            None if positions().all(|position| self.known(position) == Meets::No) => {
                Answer::Nowhere
            }
            None => Answer::Between { meets: None, fails: None },
        };
        let steps = self.steps();
        Ok(self.solution(answer, steps, true))
    }

    fn solution(self, answer: Answer, steps: Vec<Step>, tried_all: bool) -> Solution {
        let ends = match answer {
            Answer::Exactly { meets, fails } => Some((meets, fails)),
            Answer::Between { meets: Some(meets), fails: Some(fails) } => Some((meets, fails)),
            _ => None,
        };
        let across = ends.map(|(a, b)| (a.min(b), a.max(b))).and_then(|(from, to)| {
            let (low, high) = (self.probes.get(&from)?, self.probes.get(&to)?);
            let statistic = self.target.figure.statistic;
            let confidence = self.settings.confidence;
            let change = super::shape::change(&low.figures, &high.figures, statistic, confidence);
            Some(Step { from, to, change })
        });
        let shape = shape(&steps);
        Solution {
            answer,
            probes: self.probes.into_values().collect(),
            steps,
            shape,
            tried_all,
            across,
        }
    }
}
