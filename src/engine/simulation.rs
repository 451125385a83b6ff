//! The simulation loop: a clock, timers, signals between components, limits and a fingerprint.

use super::event_list::{EventList, MAX_SEQUENCE, PriorityClass};
use super::random::{Stream, StreamSeed, StreamSource, mix};
use super::time::{SimDuration, SimTime};
use super::trace::Trace;

/// A handle to one pending event: a timer of an entity (a server, a user, a job).
///
/// A timer belongs to the component that added it and holds at most one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timer(u32);

/// A place among the events of one instant, taken before it is known whether a timer has to be
/// armed at all; see [`Engine::reach`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u64);

/// What one component tells another: a named output with a value, delivered at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Index of the sending component.
    pub sender: u16,
    /// Which of the sender's outputs; the model's documentation names them.
    pub output: u16,
    /// What the output carries, for instance the index of a link.
    pub value: u64,
}

/// State with its events. The simulation is generic over it, so a handler is called directly.
///
/// `G` is the event type of the whole simulation: the component's own when it is alone, an enum
/// over all components when several share the clock.
pub trait Component {
    /// What can happen to this component.
    type Event: Copy;

    /// Adds the timers and arms the first events. Called once before the run.
    fn start<G: Copy + From<Self::Event>>(&mut self, engine: &mut Engine<G>);

    /// Something armed by this component is due now.
    fn handle<G: Copy + From<Self::Event>>(&mut self, engine: &mut Engine<G>, event: Self::Event);
}

/// What the engine runs: a single component, or a composite that hands each event to the component
/// it belongs to.
pub trait Root {
    /// The event type of the whole simulation.
    type Event: Copy;

    /// Called once before the run.
    fn start(&mut self, engine: &mut Engine<Self::Event>);

    /// The event of a timer owned by [`Engine::owner`] is due now.
    fn handle(&mut self, engine: &mut Engine<Self::Event>, event: Self::Event);
}

impl<C: Component> Root for C {
    type Event = C::Event;

    #[inline]
    fn start(&mut self, engine: &mut Engine<C::Event>) {
        Component::start(self, engine);
    }

    #[inline]
    fn handle(&mut self, engine: &mut Engine<C::Event>, event: C::Event) {
        Component::handle(self, engine, event);
    }
}

/// How far a run may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Virtual time at which a run that is still going ends.
    pub horizon: SimTime,
    /// Number of events, counted from the start of the run, after which a run that is still going
    /// ends.
    pub event_budget: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { horizon: SimTime::MAX, event_budget: MAX_SEQUENCE / 2 }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// Nothing was left to happen. The clock stands at the last event.
    Idle,
    /// A component called [`Engine::stop`]: what was asked for is known.
    Stopped,
    /// The next event lay beyond [`Limits::horizon`], where the clock stands now.
    Horizon,
    /// [`Limits::event_budget`] events had been handled and more are due before the horizon. The clock stands at
    /// the last one.
    EventBudget,
    /// An event was armed past the end of representable time.
    TimeOverflow,
    /// A component asked for more timers than [`super::MAX_SLOTS`].
    TooManyTimers,
}

/// The golden ratio's fraction in 64 bits, made odd: multiplying by it spreads low bits upwards.
const ODD_FRACTION: u64 = 0x9e37_79b9_7f4a_7c15;
/// The fingerprint of no events, before it is mixed.
const NO_EVENTS: u64 = ODD_FRACTION;

/// The clock and everything that is to happen.
#[derive(Debug)]
pub struct Engine<G> {
    now: SimTime,
    list: EventList,
    /// By the timer's number.
    timers: Vec<TimerState<G>>,
    owner: u16,
    streams: StreamSource,
    handled: u64,
    fingerprint: u64,
    ending: Option<RunEnd>,
    /// Of the run under way.
    limits: Limits,
    signals_wanted: bool,
    signals: Vec<Signal>,
    trace: Option<Box<Trace>>,
    log: Option<Vec<HandledEvent>>,
}

#[derive(Clone, Copy, Debug)]
struct TimerState<G> {
    owner: u16,
    /// What the timer was armed with last.
    event: Option<G>,
}

/// One handled event, for finding where two runs part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandledEvent {
    /// When it was due.
    pub time: SimTime,
    /// The timer's number.
    pub timer: u32,
    /// The component that owns the timer.
    pub owner: u16,
}

impl<G: Copy> Default for Engine<G> {
    fn default() -> Self {
        Self::new(StreamSeed::default())
    }
}

impl<G: Copy> Engine<G> {
    /// An engine at time zero with nothing to do.
    #[must_use]
    pub fn new(seed: StreamSeed) -> Self {
        Self {
            now: SimTime::ZERO,
            list: EventList::new(),
            timers: Vec::new(),
            owner: 0,
            streams: StreamSource { seed, complemented: false },
            handled: 0,
            fingerprint: NO_EVENTS,
            ending: None,
            limits: Limits::default(),
            signals_wanted: false,
            signals: Vec::new(),
            trace: None,
            log: None,
        }
    }

    /// Back to time zero with nothing to do, for another replication; keeps the memory.
    pub fn reset(&mut self, seed: StreamSeed) {
        self.now = SimTime::ZERO;
        self.list.clear();
        self.timers.clear();
        self.owner = 0;
        self.streams = StreamSource { seed, complemented: false };
        self.handled = 0;
        self.fingerprint = NO_EVENTS;
        self.ending = None;
        self.signals.clear();
        if let Some(log) = &mut self.log {
            log.clear();
        }
        if let Some(trace) = &mut self.trace {
            trace.clear();
        }
    }

    /// Gives every stream of this replication as its complement: the antithetic of the replication
    /// with the same seed.
    pub fn complement_streams(&mut self) {
        self.streams.complemented = true;
    }

    /// The current instant.
    #[inline]
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Where this replication's streams come from.
    #[must_use]
    pub fn streams(&self) -> StreamSource {
        self.streams
    }

    /// The random stream of `purpose` in `component` for this replication.
    #[must_use]
    pub fn stream(&self, component: &str, purpose: &str) -> Stream {
        self.streams.stream(component, purpose)
    }

    /// Adds a timer owned by the component being run.
    ///
    /// Past [`super::MAX_SLOTS`] timers the run ends with [`RunEnd::TooManyTimers`]; the timer
    /// returned then is the last good one and must not be relied on.
    pub fn add_timer(&mut self) -> Timer {
        match self.list.add_slot() {
            Some(slot) => {
                self.timers.push(TimerState { owner: self.owner, event: None });
                Timer(slot)
            }
            None => {
                self.ending.get_or_insert(RunEnd::TooManyTimers);
                Timer(super::MAX_SLOTS as u32 - 1)
            }
        }
    }

    /// Arms `timer` to go off after `delay`, replacing what it was armed for.
    ///
    /// Events of one instant run in the order in which they were armed. A delay beyond the end
    /// of time ends the run with [`RunEnd::TimeOverflow`].
    #[inline]
    pub fn arm(&mut self, timer: Timer, delay: SimDuration, event: impl Into<G>) {
        if delay.is_zero() {
            self.list.arm_immediately(timer.0, self.now);
            self.timers[timer.0 as usize].event = Some(event.into());
            return;
        }
        match self.now.checked_add(delay) {
            Some(time) => {
                self.timers[timer.0 as usize].event = Some(event.into());
                self.list.arm(timer.0, time, PriorityClass::NORMAL);
            }
            None => {
                self.ending.get_or_insert(RunEnd::TimeOverflow);
            }
        }
    }

    /// Arms `timer` to go off at `time`, or now if that has passed.
    #[inline]
    pub fn arm_at(
        &mut self,
        timer: Timer,
        time: SimTime,
        class: PriorityClass,
        event: impl Into<G>,
    ) {
        self.timers[timer.0 as usize].event = Some(event.into());
        self.list.arm(timer.0, time.max(self.now), class);
    }

    /// Takes the place among events that a timer armed now would have.
    #[inline]
    pub fn take_place(&mut self) -> Place {
        Place(self.list.take_place())
    }

    /// Goes on to the event of `timer` at `time` without a detour through the list of events, if
    /// nothing else is to happen before it: then the clock stands at `time`, the event counts as
    /// handled, and the caller handles it. Otherwise the timer is armed, and false returned.
    ///
    /// It is the last thing that a component does about an event, and makes no difference to a
    /// run but for its speed. The timer is the component's own and not armed; `place` was taken when
    /// it would have been.
    #[inline]
    pub fn reach(
        &mut self,
        timer: Timer,
        time: SimTime,
        place: Place,
        event: impl Into<G>,
    ) -> bool {
        let slot = timer.0;
        debug_assert!(!self.is_armed(timer), "an armed timer has its place already");
        debug_assert_eq!(self.timers[slot as usize].owner, self.owner);
        // What was told to others comes first, and an end that has come is noticed by the loop.
        let may_go_on = self.ending.is_none()
            && self.signals.is_empty()
            && !self.is_spent()
            && time <= self.limits.horizon;
        if may_go_on && self.list.would_be_next(slot, time, place.0) {
            self.step_to(time, slot, self.owner);
            return true;
        }
        self.timers[slot as usize].event = Some(event.into());
        self.list.arm_in_place(slot, time, place.0);
        false
    }

    /// Cancels what `timer` is armed for; false when it was not armed. A cancelled event neither
    /// moves the clock nor keeps the run alive.
    #[inline]
    pub fn disarm(&mut self, timer: Timer) -> bool {
        self.list.disarm(timer.0)
    }

    /// True when `timer` is armed.
    #[must_use]
    pub fn is_armed(&self, timer: Timer) -> bool {
        self.list.is_armed(timer.0)
    }

    /// When `timer` is due.
    #[must_use]
    pub fn deadline(&self, timer: Timer) -> Option<SimTime> {
        self.list.deadline(timer.0)
    }

    /// Ends the run after the event being handled: what was asked for is known.
    pub fn stop(&mut self) {
        self.ending.get_or_insert(RunEnd::Stopped);
    }

    /// Sends `value` on an output of the component being run. Free when nothing is connected.
    #[inline]
    pub fn emit(&mut self, output: u16, value: u64) {
        if self.signals_wanted {
            self.signals.push(Signal { sender: self.owner, output, value });
        }
    }

    /// Whether emitted signals are kept for delivery.
    pub fn want_signals(&mut self, wanted: bool) {
        self.signals_wanted = wanted;
    }

    /// The oldest undelivered signal at `index`, for the composite that delivers them.
    #[must_use]
    pub fn signal(&self, index: usize) -> Option<Signal> {
        self.signals.get(index).copied()
    }

    /// Forgets the delivered signals.
    pub fn clear_signals(&mut self) {
        self.signals.clear();
    }

    /// The component being run: the owner of the timer that went off.
    #[inline]
    #[must_use]
    pub fn owner(&self) -> u16 {
        self.owner
    }

    /// Names the component that is about to run, so that timers and signals are its own.
    #[inline]
    pub fn set_owner(&mut self, owner: u16) {
        self.owner = owner;
    }

    /// Events handled so far.
    #[must_use]
    pub fn events_handled(&self) -> u64 {
        self.handled
    }

    /// A hash over the time, timer and owner of every event handled so far, in order.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        mix(self.fingerprint ^ self.handled)
    }

    /// Where spans and counters of this run are recorded, if anywhere and as long as there is room.
    #[inline]
    pub fn trace(&mut self) -> Option<&mut Trace> {
        self.trace.as_deref_mut().filter(|trace| trace.has_room())
    }

    /// Whether [`Engine::trace`] gives anything.
    #[inline]
    #[must_use]
    pub fn is_traced(&self) -> bool {
        self.trace.as_ref().is_some_and(|trace| trace.has_room())
    }

    /// Records spans and counters from now on.
    pub fn start_trace(&mut self) {
        self.trace = Some(Box::default());
    }

    /// Ends recording and returns what was recorded.
    pub fn take_trace(&mut self) -> Option<Box<Trace>> {
        self.trace.take()
    }

    /// Keeps every handled event, for `--check-determinism`.
    pub fn start_log(&mut self) {
        self.log = Some(Vec::new());
    }

    /// The events handled since [`Engine::start_log`].
    pub fn take_log(&mut self) -> Vec<HandledEvent> {
        self.log.take().unwrap_or_default()
    }

    #[inline]
    fn is_spent(&self) -> bool {
        self.handled >= self.limits.event_budget || self.list.sequence() >= MAX_SEQUENCE - 1
    }

    /// The event of `slot` is about to be handled.
    #[inline]
    fn step_to(&mut self, time: SimTime, slot: u32, owner: u16) {
        self.now = time;
        self.handled += 1;
        self.owner = owner;
        let what = ((u64::from(owner) << 32) | u64::from(slot)).wrapping_mul(ODD_FRACTION);
        self.fingerprint =
            (self.fingerprint ^ time.as_nanos() ^ what).wrapping_mul(ODD_FRACTION).rotate_left(29);
        if let Some(log) = &mut self.log {
            log.push(HandledEvent { time, timer: slot, owner });
        }
    }

    /// Starts `root` and runs it until nothing is left, it stops, or a limit is hit.
    pub fn run<R>(&mut self, root: &mut R, limits: Limits) -> RunEnd
    where
        R: Root<Event = G>,
    {
        root.start(self);
        self.resume(root, limits)
    }

    /// Goes on with a run that ended at its horizon or event budget, with nothing lost. A run that
    /// ended for good (stopped, time overflow, too many timers) stays ended until
    /// [`Engine::reset`].
    pub fn resume<R>(&mut self, root: &mut R, limits: Limits) -> RunEnd
    where
        R: Root<Event = G>,
    {
        self.limits = limits;
        loop {
            if let Some(end) = self.ending {
                return end;
            }
            // Nothing is taken off the list past the budget, so that the run can go on from here.
            if self.is_spent() && self.list.peek().is_some_and(|time| time <= limits.horizon) {
                return RunEnd::EventBudget;
            }
            let Some((time, slot)) = self.list.pop_until(limits.horizon) else {
                if self.list.is_empty() {
                    return RunEnd::Idle;
                }
                self.now = self.now.max(limits.horizon);
                return RunEnd::Horizon;
            };
            let TimerState { owner, event } = self.timers[slot as usize];
            self.step_to(time, slot, owner);
            // An armed timer always has its event; a missing one would be a fault of this file.
            if let Some(event) = event {
                root.handle(self, event);
            }
        }
    }
}

#[cfg(test)]
mod tests;
