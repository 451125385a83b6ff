//! When services come and go.

use super::config::Workload;
use crate::engine::{SimDuration, SimTime};

/// One service more, one less, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub at: SimTime,
    pub add: bool,
    pub delete: bool,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    begin: SimTime,
    interval_s: f64,
    add: u64,
    delete: u64,
    done: u64,
}

impl Part {
    fn due(&self) -> Option<SimTime> {
        let offset = SimDuration::from_seconds(self.interval_s * self.done as f64);
        (self.done < self.add.max(self.delete)).then(|| self.begin.saturating_add(offset))
    }
}

/// What is still to come, in order of time. Nothing is stored per service.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    parts: Vec<Part>,
    next: Option<(SimTime, usize)>,
}

impl Plan {
    pub fn new(workload: &Workload) -> Self {
        let part = |part: &super::config::Part| Part {
            begin: SimTime::ZERO.saturating_add(part.at),
            interval_s: 1.0 / part.rate.as_per_second(),
            add: part.add,
            delete: part.delete,
            done: 0,
        };
        let mut plan = Self { parts: workload.schedule.iter().map(part).collect(), next: None };
        plan.restart();
        plan
    }

    /// Everything is to come again.
    pub fn restart(&mut self) {
        for part in &mut self.parts {
            part.done = 0;
        }
        self.find_next();
    }

    fn find_next(&mut self) {
        let due = |(index, part): (usize, &Part)| part.due().map(|at| (at, index));
        self.next = self.parts.iter().enumerate().filter_map(due).min();
    }

    /// Takes what is due by `now`, the earliest first.
    pub fn take(&mut self, now: SimTime) -> Option<Operation> {
        let (at, index) = self.next.filter(|(at, _)| *at <= now)?;
        let part = &mut self.parts[index];
        let operation =
            Operation { at, add: part.done < part.add, delete: part.done < part.delete };
        part.done += 1;
        self.find_next();
        Some(operation)
    }

    /// Instants at which someone should look: where each part begins and ends.
    pub fn next_landmark(&self, now: SimTime) -> Option<SimTime> {
        let landmarks = |part: &Part| {
            let last = part.add.max(part.delete).saturating_sub(1);
            let end = SimDuration::from_seconds(part.interval_s * last as f64);
            [part.begin, part.begin.saturating_add(end)]
        };
        self.parts.iter().flat_map(landmarks).filter(|&at| at > now).min()
    }

    pub fn is_done(&self) -> bool {
        self.next.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantities::Rate;

    #[test]
    fn parts_are_merged_in_order_of_time() {
        let part = |at, add, delete, rate| super::super::config::Part {
            at: SimDuration::from_millis(at),
            add,
            delete,
            rate: Rate::per_second(rate).unwrap(),
        };
        let schedule = vec![part(0, 3, 0, 100.0), part(15, 1, 2, 1000.0)];
        let mut plan = Plan::new(&Workload { schedule, ..Workload::default() });
        let mut seen = Vec::new();
        while let Some(operation) = plan.take(SimTime::from_nanos(1_000_000_000)) {
            seen.push((operation.at.as_nanos() / 1_000_000, operation.add, operation.delete));
        }
        assert_eq!(
            seen,
            [
                (0, true, false),
                (10, true, false),
                (15, true, true),
                (16, false, true),
                (20, true, false)
            ]
        );
        assert!(plan.is_done());
    }

    #[test]
    fn nothing_is_taken_before_it_is_due() {
        let part = super::super::config::Part {
            at: SimDuration::from_millis(5),
            add: 1,
            ..super::super::config::Part::default()
        };
        let mut plan = Plan::new(&Workload { schedule: vec![part], ..Workload::default() });
        assert_eq!(plan.take(SimTime::from_nanos(4_999_999)), None);
        let due = SimTime::from_nanos(5_000_000);
        assert_eq!(plan.next_landmark(SimTime::ZERO), Some(due));
        assert!(plan.take(due).is_some());
    }
}
