//! Runs step programs.

use std::collections::VecDeque;
use std::marker::PhantomData;

use rand::RngExt;

use super::job::{FinishedJob, InterpreterId, JobId, LockId, PoolId, Step};
use super::running::add;
use super::state::{Interpreter, Job, State};
use super::turns::MainLoop;
use crate::engine::{Engine, Place, SimDuration, SimTime, Stream, StreamSeed, Timer};
use crate::quantities::DurationSampler;
use crate::resources::{
    Cores, Handoff, Mutex, ProcessorSharingCpu, ServerPool, TimeSlicedCpu, Weight,
};

/// What can happen inside a [`StepExecutor`]. The event type of the component that embeds one has
/// a variant for it, and hands it to [`StepExecutor::handle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepEvent {
    /// The next job is done computing.
    Computed,
    /// A job's wait is over.
    Waited {
        /// The job's slot.
        slot: u32,
    },
    /// A thread has waited a whole switch interval for an interpreter.
    Switch {
        /// The interpreter's number.
        interpreter: u32,
    },
    /// Jobs were done when submitted, or ended with one that was killed.
    Wake,
}

/// Runs jobs that are step programs on shared cores, locks, interpreters and pools.
///
/// A component embeds one, makes the resources once, calls [`StepExecutor::start`] in its own
/// `start`, [`StepExecutor::submit`] when work comes, and passes [`StepEvent`]s on to
/// [`StepExecutor::handle`], after which it collects the jobs that are done.
///
/// An interpreter models the lock of CPython (`Python/ceval_gil.c`): a thread that has waited a
/// whole switch interval asks the holder to let go, which then queues up again. The interval
/// counts from the later of the holder's taking the lock and the first waiter's arrival.
///
/// ```
/// use convsim::engine::{Component, Engine, Limits, SimDuration, StreamSeed};
/// use convsim::resources::{Handoff, Step, StepEvent, StepExecutor};
///
/// #[derive(Clone, Copy)]
/// struct Event(StepEvent);
///
/// impl From<StepEvent> for Event {
///     fn from(event: StepEvent) -> Self {
///         Self(event)
///     }
/// }
///
/// struct TwoToggles {
///     host: StepExecutor<Event>,
///     done: Vec<(u64, f64)>,
/// }
///
/// impl Component for TwoToggles {
///     type Event = Event;
///
///     fn start<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>) {
///         self.host.start(engine, "host");
///         let bridge = self.host.lock(0);
///         let spawn = Step::Spawn {
///             cpu: SimDuration::from_millis(2),
///             blocked: SimDuration::from_millis(8),
///         };
///         for tag in 0..2 {
///             self.host.submit(engine, tag, &[Step::Lock(bridge), spawn, Step::Unlock(bridge)]);
///         }
///     }
///
///     fn handle<G: Copy + From<Event>>(&mut self, engine: &mut Engine<G>, event: Event) {
///         self.host.handle(engine, event.0);
///         while let Some(job) = self.host.pop_finished() {
///             assert_eq!(job.parts.total(), job.elapsed);
///             self.done.push((job.tag, job.parts.lock_wait.as_seconds()));
///         }
///     }
/// }
///
/// let mut host = StepExecutor::new(2);
/// host.add_lock(Handoff::Fifo);
/// let mut toggles = TwoToggles { host, done: Vec::new() };
/// Engine::new(StreamSeed::default()).run(&mut toggles, Limits::default());
/// assert_eq!(toggles.done, [(0, 0.0), (1, 0.010)]);
/// ```
#[derive(Clone, Debug)]
pub struct StepExecutor<E> {
    pub(super) cpu: Cores,
    pub(super) cpu_timer: Option<Timer>,
    /// The state of `cpu` for which its timer was armed last.
    pub(super) armed_for: u64,
    /// Whether the timer of `cpu` is to be armed at the end of the event only, and what for.
    deferring: bool,
    deferred: Option<(SimTime, Place)>,
    pub(super) wake_timer: Option<Timer>,
    pub(super) locks: Vec<Mutex<u32>>,
    pub(super) interpreters: Vec<Interpreter>,
    pub(super) pools: Vec<ServerPool<u32>>,
    pub(super) loops: Vec<MainLoop>,
    pub(super) jobs: Vec<Job>,
    /// Slots of `jobs` that this replication has used.
    pub(super) used: usize,
    pub(super) free: Vec<u32>,
    /// The steps of the submitted jobs, each with those of its children.
    pub(super) programs: Vec<Vec<Step>>,
    pub(super) free_programs: Vec<u32>,
    pub(super) ready: VecDeque<u32>,
    pub(super) finished: VecDeque<FinishedJob>,
    /// How many of `finished` may be collected: those of the last `handle`.
    pub(super) collectable: usize,
    /// No job takes a step: see [`StepExecutor::hold`].
    pub(super) held: bool,
    pub(super) random: Stream,
    /// How long those take to wake up who waited for an interpreter.
    pub(super) wakeups: Stream,
    pub(super) event: PhantomData<fn() -> E>,
}

impl<E: Copy + From<StepEvent>> StepExecutor<E> {
    /// An executor on a CPU with `cores` cores, without locks, interpreters and pools.
    #[must_use]
    pub fn new(cores: u32) -> Self {
        Self::on(ProcessorSharingCpu::new(cores))
    }

    /// An executor on `cpu`, without locks, interpreters and pools.
    #[must_use]
    pub fn on(cpu: ProcessorSharingCpu) -> Self {
        Self::on_cores(Cores::Shared(cpu))
    }

    /// An executor on cores with time slices, without locks, interpreters and pools. Where the
    /// ticks lie is drawn for each replication.
    #[must_use]
    pub fn with_time_slices(cpu: TimeSlicedCpu) -> Self {
        Self::on_cores(Cores::Sliced(cpu))
    }

    fn on_cores(cpu: Cores) -> Self {
        Self {
            cpu,
            cpu_timer: None,
            armed_for: u64::MAX,
            deferring: false,
            deferred: None,
            wake_timer: None,
            locks: Vec::new(),
            interpreters: Vec::new(),
            pools: Vec::new(),
            loops: Vec::new(),
            jobs: Vec::new(),
            used: 0,
            free: Vec::new(),
            programs: Vec::new(),
            free_programs: Vec::new(),
            ready: VecDeque::new(),
            finished: VecDeque::new(),
            collectable: 0,
            held: false,
            random: StreamSeed::default().stream("", "lock handoff"),
            wakeups: StreamSeed::default().stream("", "interpreter handoff"),
            event: PhantomData,
        }
    }

    /// Makes a lock; locks are numbered from 0.
    pub fn add_lock(&mut self, handoff: Handoff) -> LockId {
        self.locks.push(Mutex::new(handoff));
        LockId(self.locks.len() as u32 - 1)
    }

    /// Makes an interpreter; [`SimDuration::MAX`] for one that is never asked to let go.
    pub fn add_interpreter(
        &mut self,
        switch_interval: SimDuration,
        handoff: Handoff,
    ) -> InterpreterId {
        self.interpreters.push(Interpreter {
            lock: Mutex::new(handoff),
            switch_interval,
            handoff: None,
            timer: None,
        });
        InterpreterId(self.interpreters.len() as u32 - 1)
    }

    /// A thread that waits for `interpreter` computes for as long as `work` says to wake up when it
    /// is let go, and takes it then, unless another has taken it meanwhile (`drop_gil` and
    /// `take_gil` in CPython's `Python/ceval_gil.c`). Unless set, it is handed on at once, in order.
    /// With a constant the same threads may come too late again and again.
    pub fn set_handoff(&mut self, interpreter: InterpreterId, work: DurationSampler) {
        self.interpreters[interpreter.0 as usize].handoff = Some(work);
    }

    /// Makes a pool of `threads` threads; `u64::MAX` for as many as it takes.
    pub fn add_pool(&mut self, threads: u64) -> PoolId {
        self.pools.push(ServerPool::new(threads));
        PoolId(self.pools.len() as u32 - 1)
    }

    /// The lock numbered `index`, which must exist.
    #[must_use]
    pub fn lock(&self, index: u32) -> LockId {
        debug_assert!((index as usize) < self.locks.len(), "no lock {index}");
        LockId(index)
    }

    /// The shared cores, for their statistics.
    #[must_use]
    pub fn cpu(&self) -> &Cores {
        &self.cpu
    }

    /// A lock, for its statistics.
    #[must_use]
    pub fn lock_state(&self, lock: LockId) -> &Mutex<u32> {
        &self.locks[lock.0 as usize]
    }

    /// An interpreter's lock, for its statistics.
    #[must_use]
    pub fn interpreter_state(&self, interpreter: InterpreterId) -> &Mutex<u32> {
        &self.interpreters[interpreter.0 as usize].lock
    }

    /// A pool, for its statistics.
    #[must_use]
    pub fn pool_state(&self, pool: PoolId) -> &ServerPool<u32> {
        &self.pools[pool.0 as usize]
    }

    /// Back to nothing to do at the start of a replication; keeps resources and memory.
    /// `component` names the random stream of locks with [`Handoff::Random`].
    pub fn start<G: Copy + From<E>>(&mut self, engine: &mut Engine<G>, component: &str) {
        match &mut self.cpu {
            Cores::Shared(cpu) => cpu.reset(),
            Cores::Sliced(cpu) => {
                let tick = cpu.tick().as_nanos();
                let phase = engine.stream(component, "tick phase").random_range(0..tick);
                cpu.reset(SimDuration::from_nanos(phase));
            }
        }
        self.cpu_timer = Some(engine.add_timer());
        self.armed_for = u64::MAX;
        self.deferring = false;
        self.deferred = None;
        self.wake_timer = Some(engine.add_timer());
        self.locks.iter_mut().for_each(Mutex::reset);
        self.pools.iter_mut().for_each(ServerPool::reset);
        for interpreter in &mut self.interpreters {
            interpreter.lock.reset();
            if let Some(handoff) = &mut interpreter.handoff {
                handoff.rewind();
            }
            interpreter.timer = Some(engine.add_timer());
        }
        for job in &mut self.jobs {
            job.state = State::Free;
            job.timer = None;
        }
        self.used = 0;
        self.free.clear();
        self.free_programs.clear();
        self.free_programs.extend(0..self.programs.len() as u32);
        self.ready.clear();
        self.finished.clear();
        self.collectable = 0;
        self.held = false;
        self.random = engine.stream(component, "lock handoff");
        self.wakeups = engine.stream(component, "interpreter handoff");
        self.start_loops(engine.now());
    }

    /// Begins a job that takes `steps` in order.
    pub fn submit<G: Copy + From<E>>(
        &mut self,
        engine: &mut Engine<G>,
        tag: u64,
        steps: &[Step],
    ) -> JobId {
        self.submit_weighted(engine, tag, steps, Weight::NORMAL)
    }

    /// Begins a job whose computing has `weight`.
    pub fn submit_weighted<G: Copy + From<E>>(
        &mut self,
        engine: &mut Engine<G>,
        tag: u64,
        steps: &[Step],
        weight: Weight,
    ) -> JobId {
        let slot = self.take_slot(engine.now(), tag, weight);
        let program = self.free_programs.pop().unwrap_or_else(|| {
            self.programs.push(Vec::new());
            self.free_programs.reserve(self.programs.len());
            self.programs.len() as u32 - 1
        });
        let buffer = &mut self.programs[program as usize];
        buffer.clear();
        buffer.extend_from_slice(steps);
        let job = &mut self.jobs[slot as usize];
        job.program = program;
        job.end = steps.len() as u32;
        let id = JobId { slot, generation: job.generation };
        self.expect_turns(steps);
        if self.ready.is_empty() && !self.held {
            while self.take_step(engine, slot) {}
        } else {
            self.ready.push_back(slot);
        }
        self.run_ready(engine);
        self.settle(engine);
        id
    }

    /// Ends a job, its children and its child processes at once: what it holds goes to those who
    /// wait. It does not come up as finished. False when it was done already.
    pub fn kill<G: Copy + From<E>>(&mut self, engine: &mut Engine<G>, id: JobId) -> bool {
        let alive = self
            .jobs
            .get(id.slot as usize)
            .is_some_and(|job| job.generation == id.generation && job.state != State::Free);
        if alive {
            self.end_early(engine, id.slot);
            self.run_ready(engine);
            self.settle(engine);
        }
        alive
    }

    /// Something that this executor armed is due now. Collect the jobs that are done afterwards.
    pub fn handle<G: Copy + From<E>>(&mut self, engine: &mut Engine<G>, event: StepEvent) {
        self.take(engine, event);
    }

    /// As [`StepExecutor::handle`], to be followed by [`StepExecutor::go_on`] once the jobs that are
    /// done have been collected and everything was done that follows from it.
    #[inline]
    pub fn begin<G: Copy + From<E>>(&mut self, engine: &mut Engine<G>, event: StepEvent) {
        // Only then is the timer of the cores not armed.
        self.deferring = event == StepEvent::Computed;
        self.take(engine, event);
    }

    /// The next event, if it is this executor's and the clock could be moved on to it; to be handled
    /// as the one before. Most of the time one job computes after another, and none of it needs the
    /// list of events.
    #[inline]
    pub fn go_on<G: Copy + From<E>>(&mut self, engine: &mut Engine<G>) -> Option<StepEvent> {
        self.deferring = false;
        let (time, place) = self.deferred.take()?;
        let event = StepEvent::Computed;
        engine.reach(self.cpu_timer?, time, place, E::from(event)).then_some(event)
    }

    #[inline]
    fn take<G: Copy + From<E>>(&mut self, engine: &mut Engine<G>, event: StepEvent) {
        let now = engine.now();
        match event {
            StepEvent::Computed => {
                // What it was armed for has come.
                self.armed_for = u64::MAX;
                self.collect_computed(engine);
            }
            StepEvent::Waited { slot } => {
                let job = &mut self.jobs[slot as usize];
                let waited = now.since(job.since);
                match job.state {
                    State::SpawnBlocked => add(&mut job.parts.spawn_blocked, waited),
                    _ => add(&mut job.parts.wait, waited),
                }
                self.make_ready(now, slot);
            }
            // The holder does not compute; it is asked again one interval after the release.
            StepEvent::Switch { .. } if self.held => {}
            StepEvent::Switch { interpreter } => {
                self.collect_computed(engine);
                self.run_ready(engine);
                self.switch(engine, InterpreterId(interpreter));
            }
            StepEvent::Wake => {}
        }
        self.run_ready(engine);
        self.arm_cpu(engine);
        self.collectable = self.finished.len();
    }

    /// The job that was done first among those not yet collected. A job that is submitted while
    /// collecting never comes up before the next [`StepExecutor::handle`].
    pub fn pop_finished(&mut self) -> Option<FinishedJob> {
        self.collectable = self.collectable.checked_sub(1)?;
        self.finished.pop_front()
    }

    /// What [`StepExecutor::pop_finished`] does, for who has read it in place.
    #[inline]
    pub fn drop_finished(&mut self) {
        if self.collectable > 0 {
            self.collectable -= 1;
            self.finished.pop_front();
        }
    }

    /// The job that [`StepExecutor::pop_finished`] would give.
    #[inline]
    #[must_use]
    pub fn next_finished(&self) -> Option<&FinishedJob> {
        self.finished.front().filter(|_| self.collectable > 0)
    }

    /// After a call that is not from [`StepExecutor::handle`]: jobs that are done come up there.
    pub(super) fn settle<G: Copy + From<E>>(&mut self, engine: &mut Engine<G>) {
        self.arm_cpu(engine);
        let fresh = self.finished.len() > self.collectable;
        if let (true, Some(wake)) = (fresh, self.wake_timer)
            && !engine.is_armed(wake)
        {
            engine.arm(wake, SimDuration::ZERO, E::from(StepEvent::Wake));
        }
    }

    #[inline]
    fn arm_cpu<G: Copy + From<E>>(&mut self, engine: &mut Engine<G>) {
        debug_assert!(self.cpu_timer.is_some(), "the executor was not started");
        if self.armed_for == self.cpu.changes() {
            return;
        }
        self.armed_for = self.cpu.changes();
        if self.deferring {
            self.defer(engine);
        } else if let Some(timer) = self.cpu_timer {
            self.cpu.arm(engine, timer, E::from(StepEvent::Computed));
        }
    }
    /// What [`Cores::arm`] does, without arming.
    #[inline]
    fn defer<G: Copy + From<E>>(&mut self, engine: &mut Engine<G>) {
        let same = self.cpu.keeps_its_place();
        self.deferred = match (self.cpu.next_completion(), self.deferred) {
            (None, _) => None,
            // The engine reports what lies beyond the end of time.
            (Some(SimTime::MAX), _) => {
                self.deferring = false;
                self.armed_for = u64::MAX;
                self.arm_cpu(engine);
                None
            }
            (Some(time), Some(before)) if same && time == before.0 => Some(before),
            (Some(time), _) => Some((time, engine.take_place())),
        };
    }
}
