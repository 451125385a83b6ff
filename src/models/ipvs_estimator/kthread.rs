//! A kthread's life: start, draining, ticks, sleep, stop; the calc phase is in `calc_phase`.
//!
//! Source: `ip_vs_estimation_kthread`, `ip_vs_est_kthread_start` and `ip_vs_est_drain_temp_list` of
//! Linux 6.2.

use super::algorithm::ROWS;
use super::calc::Calc;
use super::component::{Event, FIRST_FOLLOWED, IpvsEstimator};
use super::host::Done;
use super::layout::Place;
use super::prices::RowTime;
use super::task::{Load, State, Task, TimeUse};
use crate::engine::{Engine, PriorityClass, SimDuration, SimTime};

/// Estimators that kthread 0 takes off the temporary list while it holds the mutex.
const DRAIN_BATCH: u64 = 16;
/// Ticks behind beyond which a running kthread gives up catching up.
const MOST_TICKS_BEHIND: i64 = 8;
/// Part of a second after which a failed start is repeated.
const RETRIES_PER_SECOND: i64 = 10;
/// Ticks of difference beyond which a starting kthread sets its clock anew.
const MOST_TICKS_AT_START: i64 = 4;

/// When a kthread's chains were created.
#[derive(Clone, Copy, Debug)]
pub(super) enum Creation {
    Now,
    /// In this jiffy, when the module was loaded.
    AtLoad(i64),
}

impl IpvsEstimator {
    /// Jiffies of a tick: `IPVS_EST_TICK`.
    pub(super) fn tick(&self) -> i64 {
        2 * i64::from(self.config.hz) / ROWS as i64
    }

    /// The chains of a kthread were created.
    pub(super) fn kthread_created<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        slot: usize,
        creation: Creation,
    ) {
        let now = engine.now();
        while self.tasks.len() <= slot {
            let timer = engine.add_timer();
            self.tasks.push(Task {
                timer,
                state: State::Stopped,
                since: now,
                est_timer: 0,
                settling: true,
                last_wrap: None,
                used: TimeUse::default(),
                load: Load::from(now),
                counted_since: now,
                exists: true,
            });
        }
        let est_timer = match creation {
            Creation::Now => self.jiffies.at(now),
            Creation::AtLoad(jiffy) => jiffy,
        };
        let task = &mut self.tasks[slot];
        *task = Task {
            est_timer,
            state: State::Stopped,
            since: now,
            settling: true,
            last_wrap: None,
            used: TimeUse::default(),
            load: Load::from(now),
            counted_since: now,
            exists: true,
            ..*task
        };
        self.seen.kthread_created(now, self.layout.kthreads());
        if self.enabled && !self.algorithm.old_timer && !self.is_stopped() {
            self.start_task(engine, slot);
        }
    }

    /// The chains of a kthread are gone, and its task with them.
    pub(super) fn kthread_destroyed<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        slot: usize,
    ) {
        self.stop_task(engine, slot);
        let task = &mut self.tasks[slot];
        self.seen.kthreads_time.add(task, engine.now());
        task.exists = false;
    }

    /// Starts all tasks, or only that of kthread 0 when there are limits to calculate.
    pub(super) fn start_tasks<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
        if self.is_stopped() {
            return;
        }
        let slots = if self.calc_phase { 1 } else { self.layout.slots() };
        for slot in 0..slots {
            if self.layout.get(slot).is_some() {
                self.start_task(engine, slot);
            }
        }
    }

    fn start_task<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, slot: usize) {
        if self.tasks[slot].state != State::Stopped || (self.calc_phase && slot > 0) {
            return;
        }
        let now = self.jiffies.at(engine.now());
        if let Some(left) = self.failing_starts.checked_sub(1) {
            self.failing_starts = left;
            return self.start_later(engine, now);
        }
        let furthest = MOST_TICKS_AT_START * self.tick();
        let task = &mut self.tasks[slot];
        if (task.est_timer - now).abs() > furthest {
            task.est_timer = now;
        }
        task.settling = true;
        task.last_wrap = None;
        task.load = Load::from(engine.now());
        self.enter(engine.now(), slot, State::Starting);
        if slot == 0 && self.calc_phase {
            self.calc_began = engine.now();
        }
        let line = self.config.host.console_line;
        engine.arm(self.tasks[slot].timer, line, Event::Wake { slot: slot as u32 });
    }

    /// A task could not be started in jiffy `now`.
    fn start_later<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, now: i64) {
        self.seen.failed_starts += 1;
        let delay = i64::from(self.config.hz) / RETRIES_PER_SECOND;
        let until = self.jiffies.wheel_expiry(now, delay);
        if let Some(timers) = self.timers {
            engine.arm_at(timers.reload, until, PriorityClass::NORMAL, Event::Reload);
        }
    }

    /// Stops a task, wherever it is. What is left of its row is not estimated this time.
    pub(super) fn stop_task<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, slot: usize) {
        self.note_stopped(engine, slot);
        self.halt_task(engine, slot);
    }

    /// The same, leaving no trace.
    pub(super) fn halt_task<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, slot: usize) {
        let now = engine.now();
        engine.disarm(self.tasks[slot].timer);
        if let Some(done) = self.host.cancel(now, slot) {
            self.account(now, &done);
        }
        if matches!(self.tasks[slot].state, State::Estimating(..)) {
            self.advance_row(slot);
        }
        self.enter(now, slot, State::Stopped);
    }

    /// Puts a task into another state; the time until now was spent in the old one. The time
    /// of states with work is accounted when that work is done.
    pub(super) fn enter(&mut self, now: SimTime, slot: usize, state: State) {
        let task = &mut self.tasks[slot];
        task.book_sleep(now);
        task.since = now;
        task.state = state;
    }

    /// A task's sleep is over.
    pub(super) fn wake<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, slot: usize) {
        match self.tasks[slot].state {
            State::Starting if slot == 0 && self.calc_phase => {
                self.calc = Calc::default();
                self.next_test(engine);
            }
            State::Starting => self.turn(engine, slot),
            State::Sleeping => self.row_or_turn(engine, slot),
            State::CalcSleep => self.begin_test(engine),
            _ => {}
        }
    }

    fn row_or_turn<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, slot: usize) {
        if !self.begin_row(engine, slot) {
            self.turn(engine, slot);
        }
    }

    /// A task's work is done.
    pub(super) fn work_done<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, done: Done) {
        let now = engine.now();
        let slot = done.slot;
        self.account(now, &done);
        self.note_work(engine, slot);
        match self.tasks[slot].state {
            State::Estimating(begin, time) => {
                self.end_row(engine, slot, begin, time);
                self.turn(engine, slot);
            }
            State::Draining => self.turn(engine, slot),
            State::CalcTest(took_ns) => {
                self.calc.record(took_ns);
                if self.calc.is_done() {
                    self.begin_relinking(engine);
                } else {
                    self.next_test(engine);
                }
            }
            State::Relinking => self.relink_some(engine),
            _ => self.enter(now, slot, State::Stopped),
        }
    }

    fn account(&mut self, now: SimTime, done: &Done) {
        let task = &mut self.tasks[done.slot];
        task.load.add(done.work);
        task.book(now, done);
    }

    pub(super) fn run<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        slot: usize,
        state: State,
        work: SimDuration,
    ) {
        let now = engine.now();
        self.enter(now, slot, state);
        self.host.run(now, slot, work);
    }

    /// The top of the loop: drain the temporary list, then sleep until the next row is due, or
    /// go on at once when it is overdue.
    pub(super) fn turn<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, slot: usize) {
        let gone = self.layout.get(slot).is_none();
        if gone || (slot == 0 && self.drain_some(engine)) {
            return;
        }
        let tick = self.tick();
        loop {
            let now = self.jiffies.at(engine.now());
            let task = &mut self.tasks[slot];
            let mut gap = task.est_timer - now;
            if gap >= 0 {
                task.settling = false;
            }
            if gap > 0 {
                if gap > tick {
                    task.est_timer = now - tick;
                    gap = tick;
                }
                let timer = task.timer;
                self.enter(engine.now(), slot, State::Sleeping);
                let until = self.jiffies.wheel_expiry(now, gap);
                let event = Event::Wake { slot: slot as u32 };
                engine.arm_at(timer, until, PriorityClass::NORMAL, event);
                return;
            }
            if gap < -MOST_TICKS_BEHIND * tick {
                task.est_timer = now;
                self.seen.backlog_dropped();
                self.note(engine, slot, "drops its backlog");
            }
            if gap < 0 {
                let behind = engine.now().since(self.jiffies.start_of(now + gap));
                let settling = self.tasks[slot].settling;
                self.seen.late(settling, behind, self.services_linked());
                if !settling {
                    engine.emit(super::OUTPUT_LATE_TICK, behind.as_nanos() / 1000);
                }
            }
            if self.begin_row(engine, slot) {
                return;
            }
        }
    }

    /// Takes up to 16 estimators off the temporary list. False when there is nothing (more) to
    /// be done about the list in this turn.
    fn drain_some<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) -> bool {
        if !self.algorithm.temp_list || self.temp_list.is_empty() {
            return false;
        }
        let now = engine.now();
        let mut linked = 0;
        while linked < DRAIN_BATCH {
            let Some((delay, tag)) = self.temp_list.pop() else {
                break;
            };
            if !self.link(engine, delay, tag, now, Creation::Now) {
                self.temp_list.push(delay, tag);
                break;
            }
            linked += 1;
        }
        if linked == 0 {
            return false;
        }
        let work = self.prices.relink(linked);
        self.run(engine, 0, State::Draining, work);
        true
    }

    /// Starts estimating the row that is next, or passes over it when it is empty; then false.
    fn begin_row<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, slot: usize) -> bool {
        let now = engine.now();
        let Some(kthread) = self.layout.get(slot) else {
            return false;
        };
        let row = kthread.est_row;
        let estimators = kthread.tick_len(row);
        let longest = kthread.longest_chain(row);
        let load = self.tasks[slot].load.take(now);
        if row == 0 {
            let task = &mut self.tasks[slot];
            let before = task.last_wrap.replace(now);
            // One that has not caught up within a whole turn is late for good.
            task.settling &= before.is_none();
            self.seen.period(before, now);
        }
        if estimators == 0 {
            self.advance_row(slot);
            return false;
        }
        let clock = self.clock(load);
        let time = self.prices.row(longest, estimators, clock, &mut self.streams.cost);
        self.run(engine, slot, State::Estimating(now, time), time.tick);
        true
    }

    fn advance_row(&mut self, slot: usize) {
        if let Some(row) = self.layout.get(slot).map(|kthread| kthread.est_row) {
            self.layout.set_est_row(slot, (row + 1) % ROWS);
        }
        self.tasks[slot].est_timer += self.tick();
    }

    fn end_row<G: Copy + From<Event>>(
        &mut self,
        engine: &mut Engine<G>,
        slot: usize,
        begin: SimTime,
        time: RowTime,
    ) {
        let now = engine.now();
        if let Some(row) = self.layout.get(slot).map(|kthread| kthread.est_row) {
            self.estimate_row(slot, row, begin, now);
        }
        let elapsed = now.since(begin);
        self.seen.tick(time, elapsed);
        let due = self.jiffies.start_of(self.tasks[slot].est_timer);
        self.note_row(engine, slot, (due, begin), time);
        self.advance_row(slot);
    }

    /// Reads the followed estimators of a row in a pass from `begin` to `end`.
    pub(super) fn estimate_row(&mut self, slot: usize, row: usize, begin: SimTime, end: SimTime) {
        let Some(kthread) = self.layout.get(slot) else {
            return;
        };
        let elapsed = end.since(begin).as_seconds();
        let (layout, rates) = (&self.layout, &mut self.rates);
        for tag in layout.tags_of(slot, row).filter(|&tag| tag >= FIRST_FOLLOWED) {
            let share =
                layout.place(tag).map_or(0.0, |place| kthread.share_before(row, place.chain));
            let at = begin.saturating_add(SimDuration::from_seconds(elapsed * share));
            rates.estimate(tag, begin, at, &mut self.streams.traffic);
        }
    }

    /// When the row of `place` is due as things stand.
    pub(super) fn due(&self, place: Place) -> SimTime {
        let slot = place.kthread as usize;
        let est_row = self.layout.get(slot).map_or(0, |kthread| kthread.est_row);
        let ticks = (usize::from(place.row) + ROWS - est_row) % ROWS;
        let est_timer = self.tasks.get(slot).map_or(0, |task| task.est_timer);
        self.jiffies.start_of(est_timer + ticks as i64 * self.tick())
    }
}
