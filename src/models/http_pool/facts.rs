//! What follows from a configuration for its single settings.

use super::config::{Arrival, Config};
use super::handler_config::HandlerPreset;
use super::presets::{Accepting, Server, resolve};
use super::proxy_config::ProxyConfig;
use super::server_config::ServerPreset;
use crate::engine::SimDuration;
use crate::quantities::DurationDistribution;

/// A configuration with its server's presets filled in.
pub struct Facts<'a> {
    pub config: &'a Config,
    pub server: Server,
}

impl<'a> Facts<'a> {
    pub fn of(config: &'a Config) -> Self {
        Self { config, server: resolve(&config.server) }
    }

    pub fn arrives(&self, arrival: Arrival) -> bool {
        self.config.clients.arrival == arrival
    }

    pub fn is(&self, preset: ServerPreset) -> bool {
        self.config.server.preset == preset
    }

    /// The proxy, or what it would be.
    pub fn proxy(&self) -> ProxyConfig {
        self.config.server.proxy.clone().unwrap_or_default()
    }

    pub fn retries(&self) -> u32 {
        self.config.clients.retry.attempts
    }

    /// How many of a request's retries come after a pause.
    pub fn pauses(&self) -> u32 {
        self.retries().saturating_sub(u32::from(self.config.clients.retry.first_at_once))
    }

    /// Whether a client's patience has an end.
    pub fn gives_up(&self) -> bool {
        let clients = &self.config.clients;
        let limits = [clients.timeout, clients.connect_timeout, clients.read_timeout];
        limits.iter().any(Option::is_some)
    }

    /// Whether the server closes every connection, whatever is set.
    pub fn closes_by_nature(&self) -> bool {
        self.server.accepting == Accepting::OneByOne
    }

    /// Whether those who connect to the server want to go on using a connection.
    pub fn is_asked_to_keep(&self) -> bool {
        match &self.config.server.proxy {
            Some(proxy) => proxy.keepalive > 0,
            None => self.config.clients.keep_alive,
        }
    }

    pub fn is_plain(&self) -> bool {
        self.config.handler.preset == HandlerPreset::Plain
    }

    /// Whether any handler sleeps.
    pub fn sleeps(&self) -> bool {
        let waits = self.is_plain() && !is_zero(&self.config.handler.wait);
        waits || !self.config.clients.background.is_empty()
    }

    /// Whether the handler starts child processes other than those of a toggle.
    pub fn spawns(&self) -> bool {
        self.is_plain() && self.config.handler.spawns > 0
    }

    /// Whether several threads of a process want its interpreter.
    pub fn shares_interpreter(&self) -> bool {
        let toggles_all = self.config.handler.preset == HandlerPreset::MuxToggleAll;
        self.server.accepting != Accepting::OneByOne || toggles_all
    }

    /// Whether anything computes for longer or shorter than it should on average.
    pub fn computes(&self) -> bool {
        let any = |works: &[SimDuration]| works.iter().any(|work| !work.is_zero());
        let (server, toggle) = (&self.server, &self.config.handler.toggle);
        let resumes = self.sleeps() || self.spawns();
        any(&[server.before_cpu, server.after_cpu])
            || self.closes_by_nature() && any(&[server.accept_cpu, server.close_cpu])
            || resumes && !server.resume_cpu.is_zero()
            || self.spawns()
                && any(&[self.config.host.spawn_parent_cpu, self.config.host.spawn_child_cpu])
            || !self.is_plain() && any(&[toggle.parent_cpu, toggle.child_cpu])
    }
}

/// Always zero.
pub fn is_zero(duration: &DurationDistribution) -> bool {
    matches!(duration, DurationDistribution::Constant { value } if value.is_zero())
}
