//! The calc phase of kthread 0 as it runs: tests with sleeps between, then all estimators move to
//! the temporary list and the new limits apply. What the tests amount to is in `calc`.
//!
//! Source: `ip_vs_est_calc_limits` and `ip_vs_est_calc_phase` of Linux 6.2.

use super::algorithm::{INITIAL_DELAY, ROWS};
use super::component::{Event, IpvsEstimator, TOTAL};
use super::layout::{Place, Tag};
use super::prices::from_ns;
use super::task::State;
use crate::engine::{Engine, PriorityClass};

/// Steps of the relinking while kthread 0 holds the mutex.
const RELINK_BATCH: u64 = 64;
/// Part of a second that the calc phase sleeps before a group of tests.
const CALC_SLEEPS_PER_SECOND: i64 = 50;

/// Where the relinking is: `delay`, and below which slot to go on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Relink {
    delay: usize,
    slot: usize,
}

impl IpvsEstimator {
    pub(super) fn next_test<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if !self.calc.sleeps_next() {
            return self.begin_test(engine);
        }
        let now = engine.now();
        self.enter(now, 0, State::CalcSleep);
        let jiffy = self.jiffies.at(now);
        let delay = i64::from(self.config.hz) / CALC_SLEEPS_PER_SECOND;
        let until = self.jiffies.wheel_expiry(jiffy, delay);
        let timer = self.tasks[0].timer;
        engine.arm_at(timer, until, PriorityClass::NORMAL, Event::Wake { slot: 0 });
    }

    /// A test: a pass that warms the cache, then those on the clock. Preemption is off between
    /// the two readings of the clock, so what it measures is work and not waiting.
    pub(super) fn begin_test<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        // kthread 0 has slept through nearly all of what the governor saw.
        let clock = self.clock(0.0);
        let loop_ns = self.prices.calc_loop_ns(clock, &mut self.streams.calc);
        let took_ns = self.calc.test_ns(loop_ns);
        let work = from_ns(self.prices.estimate_ns(clock) + took_ns);
        self.run(engine, 0, State::CalcTest(took_ns as u64), work);
    }

    pub(super) fn begin_relinking<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        for slot in 1..self.tasks.len() {
            self.stop_task(engine, slot);
        }
        self.relink = Relink { delay: INITIAL_DELAY, slot: self.layout.slots() };
        self.relink_some(engine);
    }

    /// Moves up to 64 estimators to the temporary list, those with the longest delay first, so
    /// that the list ends up in the order of the delays.
    pub(super) fn relink_some<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let mut moved = 0;
        while moved < RELINK_BATCH {
            let Some((place, tag)) = self.next_to_relink() else {
                break;
            };
            self.unlink(engine, place, tag);
            self.temp_list.push(self.relink.delay, tag);
            moved += 1;
        }
        if moved == 0 {
            self.end_calc_phase(engine);
        } else {
            let work = self.prices.relink(moved);
            self.run(engine, 0, State::Relinking, work);
        }
    }

    fn next_to_relink(&mut self) -> Option<(Place, Tag)> {
        loop {
            let Some(slot) = self.relink.slot.checked_sub(1) else {
                self.relink.delay = self.relink.delay.checked_sub(1)?;
                self.relink.slot = self.layout.slots();
                continue;
            };
            let first = self.layout.get(slot).and_then(|kthread| {
                // The last estimator of kthread 0 stays, and keeps its chains alive.
                let stays = slot == 0 && kthread.est_count() <= 1;
                let row = (kthread.est_row + self.relink.delay) % ROWS;
                if stays { None } else { self.layout.first_of_row(slot, row) }
            });
            match first {
                Some(first) => return Some(first),
                None => self.relink.slot = slot,
            }
        }
    }

    fn end_calc_phase<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        let now = engine.now();
        let chain_max = if self.algorithm.calc_applies {
            self.calc.chain_max()
        } else {
            self.algorithm.chain_max
        };
        self.layout.set_limits(self.algorithm.limits(chain_max));
        self.temp_list.move_to_head(TOTAL);
        self.calc_phase = false;
        self.tasks[0].settling = true;
        self.seen.calculated(now.since(self.calc_began), self.calc.least_ns());
        self.turn(engine, 0);
    }
}
