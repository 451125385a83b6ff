//! The steps of one request, drawn when it is served.

use rand::RngExt;

use super::config::{Config, HostConfig};
use super::draws::{Draws, Purpose};
use super::handler_config::{HandlerConfig, HandlerPreset, LockScope};
use super::presets::Server;
use crate::engine::{Engine, SimDuration};
use crate::quantities::{DurationDistribution, DurationSampler};
use crate::resources::{
    Handoff, InterpreterId, LockId, LoopId, PoolId, Step, StepEvent, StepExecutor,
};

/// What the requests of one process share.
#[derive(Clone, Copy, Debug)]
pub struct ProcessResources {
    /// The interpreter lock; none where one thread is alone.
    pub interpreter: Option<InterpreterId>,
    /// The first of its locks: one, or one for each port.
    first_lock: usize,
    /// The pool of toggle-all, shared by all its requests.
    pool: Option<PoolId>,
}

/// A request to be served.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    /// [`super::draws::attempt_key`]: what is drawn for it depends on this.
    pub request: u64,
    pub port: u64,
    /// Replaces the handler's own.
    pub wait: Option<SimDuration>,
}

/// Makes step programs.
#[derive(Clone, Debug)]
pub struct ProgramMaker {
    handler: HandlerConfig,
    before: SimDuration,
    after: SimDuration,
    resume: SimDuration,
    spawn: (SimDuration, SimDuration),
    /// How long the handler waits for a slow client to take its answer.
    transfer: SimDuration,
    cooling_time: SimDuration,
    overshoot: DurationSampler,
    /// The last wait and its factor, since most waits are all alike.
    overshoot_factor: (SimDuration, f64),
    cpu: DurationSampler,
    wait: DurationSampler,
    /// How a request's computing varies: a factor of mean 1, in seconds.
    jitter: Option<DurationSampler>,
    serial: DurationSampler,
    delay: DurationSampler,
    no_op_serial: DurationSampler,
    draws: Draws,
    serial_lock: Option<LockId>,
    main_loop: Option<LoopId>,
    locks: Vec<LockId>,
}

impl ProgramMaker {
    /// Makes the shared resources of the handler in `host`.
    pub fn new<E: Copy + From<StepEvent>>(
        config: &Config,
        server: &Server,
        host: &mut StepExecutor<E>,
    ) -> Self {
        let handler = config.handler.clone();
        let toggle = &handler.toggle;
        let toggles = handler.preset != HandlerPreset::Plain;
        let HostConfig { spawn_parent_cpu, spawn_child_cpu, sleep_overshoot, .. } = &config.host;
        Self {
            before: server.before_cpu,
            after: server.after_cpu,
            resume: server.resume_cpu,
            spawn: (*spawn_parent_cpu, *spawn_child_cpu),
            transfer: match &config.server.proxy {
                Some(proxy) if proxy.buffering => SimDuration::ZERO,
                _ => config.clients.answer_transfer,
            },
            cooling_time: config.host.cooling_time,
            overshoot: sleep_overshoot.sampler(),
            overshoot_factor: (SimDuration::ZERO, 0.0),
            cpu: handler.cpu.sampler(),
            wait: handler.wait.sampler(),
            serial: toggle.serial.sampler(),
            delay: toggle.delay.sampler(),
            no_op_serial: toggle.no_op_serial.sampler(),
            draws: Draws::default(),
            jitter: (config.host.cpu_cv > 0.0).then(|| {
                let mean = SimDuration::from_whole_seconds(1);
                DurationDistribution::Lognormal { mean, cv: config.host.cpu_cv }.sampler()
            }),
            serial_lock: toggles.then(|| host.add_lock(Handoff::Fifo)),
            main_loop: (toggles && toggle.turns > 0).then(|| {
                let main_loop = host.add_loop(toggle.turn_cpu, toggle.turn_cpu_per_call);
                if toggle.keeps_turning {
                    host.keep_turning(main_loop);
                }
                main_loop
            }),
            locks: Vec::new(),
            handler,
        }
    }

    /// Makes the resources of one process in `host`.
    pub fn add_process<E: Copy + From<StepEvent>>(
        &mut self,
        host: &mut StepExecutor<E>,
        interpreter: Option<InterpreterId>,
    ) -> ProcessResources {
        let handler = &self.handler;
        let locks = match (handler.preset, handler.lock) {
            (HandlerPreset::Plain, LockScope::None) => 0,
            (HandlerPreset::Plain, LockScope::Process) => 1,
            _ => handler.ports,
        };
        let first = self.locks.len();
        self.locks.extend((0..locks).map(|_| host.add_lock(Handoff::Fifo)));
        let pool = (handler.preset == HandlerPreset::MuxToggleAll)
            .then(|| host.add_pool(u64::from(handler.pool_threads)));
        ProcessResources { interpreter, first_lock: first, pool }
    }

    /// Draws anew for a replication.
    pub fn start<G: Copy>(&mut self, engine: &Engine<G>, name: &str) {
        self.draws.start(engine, name);
        for sampler in [&mut self.cpu, &mut self.wait, &mut self.serial, &mut self.delay] {
            sampler.rewind();
        }
        self.overshoot.rewind();
        self.no_op_serial.rewind();
    }

    /// Appends the steps of a request: computing before, handler, computing after. Gives by how much
    /// the server's own computing for it differs from the mean.
    pub fn append(
        &mut self,
        steps: &mut Vec<Step>,
        process: &ProcessResources,
        of: &Service,
    ) -> f64 {
        let Service { request, port, wait } = *of;
        self.draws.turn_to(request);
        let factor = self.vary();
        push_cpu(steps, process, scale(self.before, factor));
        let slept = match (self.handler.preset, wait) {
            (_, Some(wait)) => self.sleep(steps, wait),
            (HandlerPreset::Plain, None) => self.append_plain(steps, process, port),
            (HandlerPreset::MuxToggle, None) => {
                self.append_toggle(steps, process, port);
                false
            }
            (HandlerPreset::MuxToggleAll, None) => {
                self.append_toggle_all(steps, process);
                false
            }
        };
        let resume = if slept { self.resume } else { SimDuration::ZERO };
        push_cpu(steps, process, scale(self.after.saturating_add(resume), factor));
        if !self.transfer.is_zero() {
            steps.push(Step::Wait(self.transfer));
        }
        factor
    }

    fn vary(&mut self) -> f64 {
        match &mut self.jitter {
            Some(jitter) => self.draws.sample(jitter, Purpose::Jitter).as_seconds(),
            None => 1.0,
        }
    }

    fn lock_of(&self, process: &ProcessResources, port: u64) -> Option<LockId> {
        let within = match (self.handler.preset, self.handler.lock) {
            (HandlerPreset::Plain, LockScope::None) => return None,
            (HandlerPreset::Plain, LockScope::Process) => 0,
            _ => port % u64::from(self.handler.ports),
        };
        self.locks.get(process.first_lock + within as usize).copied()
    }

    /// True when the last thing the handler did was to wait.
    fn append_plain(
        &mut self,
        steps: &mut Vec<Step>,
        process: &ProcessResources,
        port: u64,
    ) -> bool {
        let lock = self.lock_of(process, port);
        steps.extend(lock.map(Step::Lock));
        let work = self.draws.sample(&mut self.cpu, Purpose::Cpu);
        push_cpu(steps, process, work);
        let wait = self.draws.sample(&mut self.wait, Purpose::Wait);
        let slept = self.sleep(steps, wait);
        for _ in 0..self.handler.spawns {
            let (parent, child) = self.spawn;
            let factor = self.vary();
            push_cpu(steps, process, scale(parent, factor));
            let cpu = scale(child, factor);
            steps.push(Step::Spawn { cpu, blocked: SimDuration::ZERO });
            // The thread goes on after `wait`.
            push_cpu(steps, process, scale(self.resume, factor));
        }
        steps.extend(lock.map(Step::Unlock));
        slept && self.handler.spawns == 0
    }

    fn sleep(&mut self, steps: &mut Vec<Step>, wait: SimDuration) -> bool {
        if wait.is_zero() {
            return false;
        }
        if self.overshoot_factor.0 != wait {
            self.overshoot_factor = (wait, cooled_down(wait, self.cooling_time));
        }
        let overshoot = self.draws.sample(&mut self.overshoot, Purpose::Overshoot).as_seconds();
        let late = SimDuration::from_seconds(overshoot * self.overshoot_factor.1);
        steps.push(Step::Wait(wait.saturating_add(late)));
        true
    }

    fn append_toggle(&mut self, steps: &mut Vec<Step>, process: &ProcessResources, port: u64) {
        let Some(lock) = self.lock_of(process, port) else { return };
        steps.push(Step::Lock(lock));
        push_cpu(steps, process, self.handler.toggle.handler_cpu);
        let share = self.handler.toggle.no_op_share;
        if share > 0.0 && self.draws.stream(Purpose::NoOp).random::<f64>() < share {
            let work = self.draws.sample(&mut self.no_op_serial, Purpose::Toggle);
            self.append_serial(steps, work);
        } else {
            for _ in 0..self.handler.toggle.calls {
                self.append_call(steps, process);
            }
        }
        steps.push(Step::Unlock(lock));
    }

    fn append_call(&mut self, steps: &mut Vec<Step>, process: &ProcessResources) {
        let factor = self.vary();
        let toggle = &self.handler.toggle;
        push_cpu(steps, process, scale(toggle.parent_cpu, factor));
        let cpu = scale(toggle.child_cpu, factor);
        steps.push(Step::Spawn { cpu, blocked: SimDuration::ZERO });
        let turns = toggle.turns as usize;
        let serial = self.draws.sample(&mut self.serial, Purpose::Toggle);
        let delay = self.draws.sample(&mut self.delay, Purpose::Toggle);
        self.append_serial(steps, serial);
        steps.push(Step::Spawn { cpu: SimDuration::ZERO, blocked: delay });
        steps.extend(self.main_loop.iter().cycle().take(turns).map(|of| Step::Turn(*of)));
    }

    fn append_serial(&self, steps: &mut Vec<Step>, work: SimDuration) {
        if let (Some(lock), false) = (self.serial_lock, work.is_zero()) {
            let blocked = Step::Spawn { cpu: SimDuration::ZERO, blocked: work };
            steps.extend([Step::Lock(lock), blocked, Step::Unlock(lock)]);
        }
    }

    fn append_toggle_all(&mut self, steps: &mut Vec<Step>, process: &ProcessResources) {
        let Some(pool) = process.pool else { return };
        for port in 0..self.handler.ports {
            let fork = steps.len();
            steps.push(Step::Join);
            self.append_toggle(steps, process, u64::from(port));
            steps[fork] = Step::Fork { pool, steps: (steps.len() - fork - 1) as u32 };
        }
        steps.push(Step::Join);
        let work = self.handler.status_cpu.saturating_mul(u64::from(self.handler.ports));
        push_cpu(steps, process, work);
    }
}

/// Interpreted computing; what follows on such computing goes on without letting go.
fn push_cpu(steps: &mut Vec<Step>, process: &ProcessResources, work: SimDuration) {
    let interpreter = process.interpreter;
    match steps.last_mut() {
        Some(Step::Cpu { work: before, interpreter: same }) if *same == interpreter => {
            *before = before.saturating_add(work);
        }
        _ if work.is_zero() => {}
        _ => steps.push(Step::Cpu { work, interpreter }),
    }
}

/// `work` times `factor`.
pub fn scale(work: SimDuration, factor: f64) -> SimDuration {
    if factor == 1.0 { work } else { SimDuration::from_seconds(work.as_seconds() * factor) }
}

/// How far a process has cooled down after being idle for `idle`: from 0 to 1.
pub fn cooled_down(idle: SimDuration, cooling_time: SimDuration) -> f64 {
    if cooling_time.is_zero() {
        return 1.0;
    }
    -libm::expm1(-idle.as_seconds() / cooling_time.as_seconds())
}
