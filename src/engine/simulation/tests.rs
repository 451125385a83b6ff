use super::*;
use crate::engine::MAX_SLOTS;

/// Does what a test says, with a record of what went off when.
struct Script<F> {
    on_event: F,
    record: Vec<(u64, u32)>,
}

impl<F: FnMut(&mut Engine<u32>, u32)> Root for Script<F> {
    type Event = u32;

    /// Sends event 0 through `on_event` at time zero, from outside the loop.
    fn start(&mut self, engine: &mut Engine<u32>) {
        (self.on_event)(engine, 0);
    }

    fn handle(&mut self, engine: &mut Engine<u32>, event: u32) {
        self.record.push((engine.now().as_nanos(), event));
        (self.on_event)(engine, event);
    }
}

fn script<F: FnMut(&mut Engine<u32>, u32)>(on_event: F) -> Script<F> {
    Script { on_event, record: Vec::new() }
}

const fn ns(nanos: u64) -> SimDuration {
    SimDuration::from_nanos(nanos)
}

fn until(nanos: u64) -> Limits {
    Limits { horizon: SimTime::from_nanos(nanos), ..Limits::default() }
}

fn at_most(event_budget: u64) -> Limits {
    Limits { event_budget, ..Limits::default() }
}

/// Goes off every 10 ns, `last` times, with the number of the time as event.
fn clockwork(last: u32) -> Script<impl FnMut(&mut Engine<u32>, u32)> {
    let mut timer = None;
    script(move |engine, event| {
        if event == 0 {
            timer = Some(engine.add_timer());
        }
        if let Some(timer) = timer.filter(|_| event < last) {
            engine.arm(timer, ns(10), event + 1);
        }
    })
}

#[test]
fn a_run_without_events_is_idle_at_time_zero() {
    let mut engine = Engine::default();
    assert_eq!(engine.run(&mut script(|_, _| ()), Limits::default()), RunEnd::Idle);
    assert_eq!(engine.now(), SimTime::ZERO);
    assert_eq!(engine.events_handled(), 0);
    assert_ne!(engine.fingerprint(), 0);
}

#[test]
fn a_run_ends_idle_at_its_last_event() {
    let mut engine = Engine::default();
    let mut root = clockwork(3);
    assert_eq!(engine.run(&mut root, Limits::default()), RunEnd::Idle);
    assert_eq!(root.record, [(10, 1), (20, 2), (30, 3)]);
    assert_eq!(engine.now(), SimTime::from_nanos(30));
}

#[test]
fn an_event_at_the_horizon_still_happens_and_the_clock_ends_there() {
    let mut engine = Engine::default();
    let mut root = clockwork(5);
    assert_eq!(engine.run(&mut root, until(20)), RunEnd::Horizon);
    assert_eq!(root.record, [(10, 1), (20, 2)]);
    assert_eq!(engine.resume(&mut root, until(25)), RunEnd::Horizon);
    assert_eq!(engine.now(), SimTime::from_nanos(25));
    assert_eq!(engine.resume(&mut root, until(1_000)), RunEnd::Idle);
    assert_eq!(root.record.len(), 5);
    assert_eq!(engine.now(), SimTime::from_nanos(50));
}

#[test]
fn resuming_with_an_earlier_horizon_does_not_turn_the_clock_back() {
    let mut engine = Engine::default();
    let mut root = clockwork(5);
    engine.run(&mut root, until(35));
    assert_eq!(engine.resume(&mut root, until(5)), RunEnd::Horizon);
    assert_eq!(engine.now(), SimTime::from_nanos(35));
}

#[test]
fn resuming_after_the_event_budget_loses_no_event() {
    let mut engine = Engine::default();
    let mut root = clockwork(5);
    assert_eq!(engine.run(&mut root, at_most(2)), RunEnd::EventBudget);
    assert_eq!(engine.now(), SimTime::from_nanos(20));
    assert_eq!(engine.resume(&mut root, at_most(2)), RunEnd::EventBudget);
    assert_eq!(engine.resume(&mut root, at_most(5)), RunEnd::Idle);
    let whole = root.record;

    let mut uninterrupted = clockwork(5);
    let mut other = Engine::default();
    other.run(&mut uninterrupted, Limits::default());
    assert_eq!(whole, uninterrupted.record);
    assert_eq!(engine.fingerprint(), other.fingerprint());
}

#[test]
fn a_budget_that_just_suffices_is_no_limit() {
    let mut engine = Engine::default();
    assert_eq!(engine.run(&mut clockwork(5), at_most(5)), RunEnd::Idle);
}

#[test]
fn stopping_ends_the_run_after_the_event_that_asked_for_it() {
    let mut engine = Engine::default();
    let mut root = script(|engine, event| {
        if event == 0 {
            for later in 1..=3_u32 {
                let timer = engine.add_timer();
                engine.arm(timer, ns(later.into()), later);
            }
        } else if event == 2 {
            engine.stop();
        }
    });
    assert_eq!(engine.run(&mut root, Limits::default()), RunEnd::Stopped);
    assert_eq!(root.record, [(1, 1), (2, 2)]);
    assert_eq!(engine.resume(&mut root, Limits::default()), RunEnd::Stopped);
}

#[test]
fn a_delay_past_the_end_of_time_is_reported() {
    let mut engine = Engine::default();
    let mut root = script(|engine, event| {
        let timer = engine.add_timer();
        engine.arm(timer, if event == 0 { ns(1) } else { SimDuration::MAX }, 1_u32);
    });
    assert_eq!(engine.run(&mut root, Limits::default()), RunEnd::TimeOverflow);
    assert_eq!(root.record, [(1, 1)]);
}

#[test]
fn one_timer_too_many_is_reported_and_the_engine_can_be_reset() {
    let mut engine = Engine::default();
    let mut greedy = script(|engine: &mut Engine<u32>, _| {
        for _ in 0..=MAX_SLOTS {
            engine.add_timer();
        }
    });
    assert_eq!(engine.run(&mut greedy, Limits::default()), RunEnd::TooManyTimers);
    engine.reset(StreamSeed::default());
    assert_eq!(engine.run(&mut clockwork(2), Limits::default()), RunEnd::Idle);
}

#[test]
fn a_cancelled_timer_neither_moves_the_clock_nor_keeps_a_run_alive() {
    let mut engine = Engine::default();
    let mut root = script(|engine, event| {
        if event == 0 {
            let (timeout, answer) = (engine.add_timer(), engine.add_timer());
            engine.arm(timeout, ns(1_000), 2_u32);
            engine.arm(answer, ns(10), 1_u32);
            assert!(engine.is_armed(timeout));
            assert_eq!(engine.deadline(timeout), Some(SimTime::from_nanos(1_000)));
            assert!(engine.disarm(timeout), "it was armed");
            assert!(!engine.disarm(timeout), "it is no longer armed");
            assert_eq!(engine.deadline(timeout), None);
        }
    });
    assert_eq!(engine.run(&mut root, Limits::default()), RunEnd::Idle);
    assert_eq!(root.record, [(10, 1)]);
    assert_eq!(engine.now(), SimTime::from_nanos(10));
}

#[test]
fn arming_an_armed_timer_replaces_its_event() {
    let mut engine = Engine::default();
    let mut root = script(|engine, event| {
        if event == 0 {
            let timer = engine.add_timer();
            engine.arm(timer, ns(10), 1_u32);
            engine.arm(timer, ns(0), 2_u32);
            engine.arm(timer, ns(20), 3_u32);
        }
    });
    engine.run(&mut root, Limits::default());
    assert_eq!(root.record, [(20, 3)]);
}

#[test]
fn events_of_one_instant_run_by_class_and_then_as_they_were_armed() {
    let mut engine = Engine::default();
    let mut root = script(|engine, event| {
        if event == 0 {
            let now = engine.now();
            for (class, event) in [
                (PriorityClass::LAST, 5_u32),
                (PriorityClass::NORMAL, 2),
                (PriorityClass::FIRST, 1),
                (PriorityClass::NORMAL, 3),
            ] {
                let timer = engine.add_timer();
                engine.arm_at(timer, now, class, event);
            }
            let timer = engine.add_timer();
            engine.arm(timer, SimDuration::ZERO, 4_u32);
        }
    });
    engine.run(&mut root, Limits::default());
    assert_eq!(root.record, [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)]);
}

#[test]
fn what_is_armed_for_the_past_happens_now() {
    let mut engine = Engine::default();
    let mut root = script(|engine, event| {
        let timer = engine.add_timer();
        match event {
            0 => engine.arm(timer, ns(10), 1_u32),
            1 => engine.arm_at(timer, SimTime::from_nanos(3), PriorityClass::NORMAL, 2_u32),
            _ => (),
        }
    });
    engine.run(&mut root, Limits::default());
    assert_eq!(root.record, [(10, 1), (10, 2)]);
}

#[test]
fn signals_carry_their_sender_and_are_kept_only_when_wanted() {
    let mut engine = Engine::<u32>::default();
    engine.set_owner(3);
    engine.emit(1, 42);
    assert_eq!(engine.signal(0), None);
    engine.want_signals(true);
    engine.emit(1, 42);
    engine.emit(2, 43);
    assert_eq!(engine.signal(0), Some(Signal { sender: 3, output: 1, value: 42 }));
    assert_eq!(engine.signal(1), Some(Signal { sender: 3, output: 2, value: 43 }));
    engine.clear_signals();
    assert_eq!(engine.signal(0), None);
}

#[test]
fn a_timer_runs_for_the_component_that_added_it() {
    let mut engine = Engine::default();
    let mut owners = Vec::new();
    let mut root = script(|engine, event| {
        if event == 0 {
            for owner in [4, 7] {
                engine.set_owner(owner);
                let timer = engine.add_timer();
                engine.arm(timer, ns(20 - u64::from(owner)), u32::from(owner));
            }
        } else {
            owners.push(engine.owner());
        }
    });
    engine.run(&mut root, Limits::default());
    assert_eq!(owners, [7, 4]);
}

/// The fingerprint of a run in which `owner`'s second timer goes off at `nanos`.
fn fingerprint_of(owner: u16, nanos: u64, unused_timers: usize) -> u64 {
    let mut engine = Engine::default();
    let mut root = script(|engine, event| {
        if event == 0 {
            engine.set_owner(owner);
            for _ in 0..unused_timers {
                engine.add_timer();
            }
            let timer = engine.add_timer();
            engine.arm(timer, ns(nanos), 1_u32);
        }
    });
    engine.run(&mut root, Limits::default());
    engine.fingerprint()
}

#[test]
fn the_fingerprint_depends_on_time_timer_and_owner_of_every_event() {
    let base = fingerprint_of(0, 10, 0);
    assert_eq!(base, fingerprint_of(0, 10, 0));
    assert_ne!(base, fingerprint_of(0, 11, 0));
    assert_ne!(base, fingerprint_of(0, 10, 1));
    assert_ne!(base, fingerprint_of(1, 10, 0));
    assert_ne!(base, Engine::<u32>::default().fingerprint());
}

#[test]
fn a_reset_engine_repeats_a_run_exactly() {
    let mut engine = Engine::default();
    engine.start_log();
    let first_end = engine.run(&mut clockwork(50), until(333));
    let first = (first_end, engine.fingerprint(), engine.take_log());
    engine.start_log();
    engine.reset(StreamSeed::default());
    let second_end = engine.run(&mut clockwork(50), until(333));
    assert_eq!(first, (second_end, engine.fingerprint(), engine.take_log()));
}

#[test]
fn the_log_tells_time_timer_and_owner_of_each_event() {
    let mut engine = Engine::default();
    engine.start_log();
    engine.run(&mut clockwork(2), Limits::default());
    let event = |nanos| HandledEvent { time: SimTime::from_nanos(nanos), timer: 0, owner: 0 };
    assert_eq!(engine.take_log(), [event(10), event(20)]);
}

#[test]
fn the_fingerprint_of_a_known_run_never_changes() {
    let mut engine = Engine::default();
    engine.run(&mut clockwork(3), Limits::default());
    assert_eq!(engine.fingerprint(), 9_756_359_930_777_955_763);
}

/// A clock of its own beside a timer that is armed for every 25 ns: it goes on without the list of
/// events wherever it may.
struct Reacher {
    own: Option<Timer>,
    other: Option<Timer>,
    on: bool,
    record: Vec<(u64, u32)>,
}

impl Root for Reacher {
    type Event = u32;

    fn start(&mut self, engine: &mut Engine<u32>) {
        self.own = Some(engine.add_timer());
        self.other = Some(engine.add_timer());
        engine.arm(self.own.unwrap(), ns(10), 1_u32);
        engine.arm(self.other.unwrap(), ns(25), 0_u32);
    }

    fn handle(&mut self, engine: &mut Engine<u32>, mut event: u32) {
        loop {
            self.record.push((engine.now().as_nanos(), event));
            if event == 0 {
                engine.arm(self.other.unwrap(), ns(25), 0_u32);
                return;
            }
            event += 1;
            if event == 40 {
                engine.stop();
            }
            let time = engine.now().saturating_add(ns(5));
            if !self.on {
                engine.arm(self.own.unwrap(), ns(5), event);
                return;
            }
            let place = engine.take_place();
            if !engine.reach(self.own.unwrap(), time, place, event) {
                return;
            }
        }
    }
}

#[test]
fn an_event_that_is_reached_without_the_list_is_the_same_event() {
    let run = |on: bool, limits: &[Limits]| {
        let mut engine = Engine::default();
        engine.start_log();
        let mut root = Reacher { own: None, other: None, on, record: Vec::new() };
        let mut ends = vec![engine.run(&mut root, limits[0])];
        ends.extend(limits[1..].iter().map(|limits| engine.resume(&mut root, *limits)));
        let state = (engine.now(), engine.events_handled(), engine.fingerprint());
        (ends, state, engine.take_log(), root.record)
    };
    for limits in [
        vec![Limits::default()],
        vec![until(32), until(75), until(1_000)],
        vec![at_most(1), at_most(7), at_most(8), at_most(1_000)],
    ] {
        assert_eq!(run(true, &limits), run(false, &limits), "{limits:?}");
    }
}
