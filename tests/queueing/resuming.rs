//! A run that hits a limit goes on as if it had not.

use convsim::engine::{Component, Engine, Limits, RunEnd, SimDuration, SimTime, Timer};

/// Ticks ten times, a second apart.
#[derive(Default)]
struct Ticker {
    timer: Option<Timer>,
    ticks: Vec<SimTime>,
}

#[derive(Clone, Copy)]
struct Tick;

impl Component for Ticker {
    type Event = Tick;

    fn start<G: Copy + From<Tick>>(&mut self, engine: &mut Engine<G>) {
        let timer = engine.add_timer();
        engine.arm(timer, SimDuration::from_whole_seconds(1), Tick);
        self.timer = Some(timer);
    }

    fn handle<G: Copy + From<Tick>>(&mut self, engine: &mut Engine<G>, tick: Tick) {
        self.ticks.push(engine.now());
        if let (Some(timer), true) = (self.timer, self.ticks.len() < 10) {
            engine.arm(timer, SimDuration::from_whole_seconds(1), tick);
        }
    }
}

#[test]
fn a_run_that_spent_its_event_budget_loses_no_event() {
    let mut whole = Ticker::default();
    let mut engine = Engine::default();
    assert_eq!(engine.run(&mut whole, Limits::default()), RunEnd::Idle);
    let fingerprint = engine.fingerprint();

    let mut parts = Ticker::default();
    let mut engine = Engine::default();
    let to = |event_budget| Limits { event_budget, ..Limits::default() };
    assert_eq!(engine.run(&mut parts, to(3)), RunEnd::EventBudget);
    assert_eq!(engine.resume(&mut parts, to(3)), RunEnd::EventBudget);
    assert_eq!(engine.resume(&mut parts, to(10)), RunEnd::Idle);
    assert_eq!(parts.ticks, whole.ticks);
    assert_eq!(engine.fingerprint(), fingerprint);
}
