//! A measured case, and the configuration that predicts it.

use convsim::engine::SimDuration;
use convsim::models::http_pool::{
    Arrival, Config, LockScope, RetryConfig, ServerPreset, TimeoutMode,
};
use convsim::quantities::{DurationDistribution, Rate};
use serde::Deserialize;

/// The file of measurements.
#[derive(Deserialize)]
pub struct Measurements {
    pub cores: u32,
    pub cases: Vec<Case>,
}

/// One measured case.
#[derive(Deserialize)]
pub struct Case {
    pub id: String,
    pub role: Option<String>,
    pub server: String,
    pub workers: u32,
    pub threads: u32,
    pub backlog: u32,
    pub users: u32,
    pub requests: u64,
    pub service_sleep_ms: f64,
    pub service_cpu_ms: f64,
    pub service_spawns: u32,
    pub service_lock: bool,
    pub client_timeout_s: f64,
    pub timeout_mode: String,
    pub arrival: String,
    pub rate_per_s: Option<f64>,
    pub retry_sleep_s: Option<f64>,
    pub retry_max_s: Option<f64>,
    pub worker_timeout_s: Option<f64>,
    pub worker_connections: Option<u32>,
    pub stuck_conns: u32,
    pub background_sleep_ms: Vec<f64>,
    pub stop_issuing_after_s: Option<f64>,
    pub kernel: Kernel,
    #[serde(default)]
    pub repeats: Repeats,
}

/// The kernel settings of a case.
#[derive(Deserialize)]
pub struct Kernel {
    pub syn_linear_timeouts: u32,
    pub syncookies: u32,
    pub somaxconn: u32,
}

/// What was measured, a value for each repeat. In the published file a repeat is an object, in
/// the compact one each figure is a list.
#[derive(Default)]
pub struct Repeats(pub std::collections::BTreeMap<String, Vec<f64>>);

impl<'de> Deserialize<'de> for Repeats {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde_json::Value;
        let mut figures = std::collections::BTreeMap::<String, Vec<f64>>::new();
        let mut add = |key: &str, value: &Value| {
            if let Some(number) = value.as_f64() {
                figures.entry(key.to_owned()).or_default().push(number);
            }
        };
        match Value::deserialize(deserializer)? {
            Value::Object(lists) => {
                for (key, list) in &lists {
                    list.as_array().into_iter().flatten().for_each(|value| add(key, value));
                }
            }
            Value::Array(repeats) => {
                for (key, value) in repeats.iter().filter_map(Value::as_object).flatten() {
                    add(key, value);
                }
            }
            _ => {}
        }
        Ok(Self(figures))
    }
}

impl Repeats {
    /// The values of all repeats; those that are `null` are left out.
    pub fn values(&self, figure: &str) -> &[f64] {
        self.0.get(figure).map_or(&[], Vec::as_slice)
    }

    /// The median over the repeats.
    pub fn median(&self, figure: &str) -> Option<f64> {
        let values = self.values(figure);
        (!values.is_empty()).then(|| crate::judge::median(values))
    }
}

fn seconds(seconds: f64) -> SimDuration {
    SimDuration::from_seconds(seconds)
}

fn millis(millis: f64) -> SimDuration {
    SimDuration::from_seconds(millis / 1e3)
}

impl Case {
    /// What the case is for.
    pub fn role(&self) -> &str {
        self.role.as_deref().unwrap_or("predict")
    }

    /// Whether segments were lost and sent again.
    pub fn has_retransmissions(&self) -> bool {
        ["requests_with_retrans", "TCPSynRetrans", "ListenOverflows", "TCPReqQFullDrop"]
            .iter()
            .any(|figure| self.repeats.median(figure).is_some_and(|count| count > 0.0))
    }

    /// Answers for each second of each repeat.
    pub fn throughputs(&self) -> Vec<f64> {
        let (ok, elapsed) = (self.repeats.values("ok"), self.repeats.values("elapsed_s"));
        ok.iter().zip(elapsed).map(|(ok, elapsed)| ok / elapsed).collect()
    }

    /// Server, load and service in a few words.
    pub fn summary(&self) -> String {
        let server = match self.server.as_str() {
            "werkzeug_single" => "wz1".to_owned(),
            "werkzeug_threaded" => "wzT".to_owned(),
            "gunicorn_sync" => format!("sync {}", self.workers),
            _ => format!("gthread {}x{}", self.workers, self.threads),
        };
        let mut text = format!("{server}, backlog {}, {}", self.backlog, self.arrival);
        if self.users > 0 {
            text.push_str(&format!(", {} users", self.users));
        }
        text.push_str(&format!(", {} requests", self.requests));
        let mut add = |wanted: bool, what: String| {
            if wanted {
                text.push_str(", ");
                text.push_str(&what);
            }
        };
        add(self.service_sleep_ms > 0.0, format!("sleep {} ms", self.service_sleep_ms));
        add(self.service_cpu_ms > 0.0, format!("compute {} ms", self.service_cpu_ms));
        add(self.service_spawns > 0, format!("{} processes", self.service_spawns));
        add(self.service_lock, "one lock".to_owned());
        add(true, format!("timeout {} s", self.client_timeout_s));
        add(self.timeout_mode == "phase", "per phase".to_owned());
        add(self.stuck_conns > 0, format!("{} silent peers", self.stuck_conns));
        add(self.kernel.syncookies == 0, "no cookies".to_owned());
        add(self.kernel.somaxconn < 4096, format!("somaxconn {}", self.kernel.somaxconn));
        add(self.kernel.syn_linear_timeouts > 0, "linear SYN clock".to_owned());
        text
    }

    /// The configuration that predicts it. Everything that is no setting of the case comes from
    /// the calibration cases: the presets' overheads, and [`host`] and [`client`] costs here.
    pub fn config(&self, cores: u32) -> Option<Config> {
        let mut config = Config::default();
        let server = &mut config.server;
        server.preset = match self.server.as_str() {
            "werkzeug_single" => ServerPreset::WerkzeugSingle,
            "werkzeug_threaded" => ServerPreset::WerkzeugThreaded,
            "gunicorn_sync" => ServerPreset::GunicornSync,
            "gunicorn_gthread" => ServerPreset::GunicornGthread,
            _ => return None,
        };
        server.workers = self.workers;
        if server.preset == ServerPreset::GunicornGthread {
            server.threads = self.threads;
        }
        server.backlog = Some(self.backlog);
        if server.preset == ServerPreset::GunicornSync {
            server.worker_timeout = self.worker_timeout_s.map(seconds);
        }
        server.worker_connections = self.worker_connections;
        let network = &mut config.network;
        network.somaxconn = self.kernel.somaxconn;
        network.syncookies = self.kernel.syncookies != 0;
        network.syn_linear_timeouts = self.kernel.syn_linear_timeouts;
        let handler = &mut config.handler;
        handler.wait = millis(self.service_sleep_ms).into();
        handler.cpu = cpu_loop(self.service_cpu_ms);
        handler.spawns = self.service_spawns;
        handler.lock = if self.service_lock { LockScope::Process } else { LockScope::None };
        config.host.cores = cores;
        config.host.sleep_overshoot = DurationDistribution::Uniform {
            min: SimDuration::from_micros(1070),
            max: SimDuration::from_micros(1470),
        };
        config.host.cpu_cv = 0.25;
        self.set_clients(&mut config)?;
        Some(config)
    }

    fn set_clients(&self, config: &mut Config) -> Option<()> {
        let clients = &mut config.clients;
        clients.arrival = match self.arrival.split(' ').next()? {
            "closed" => Arrival::Closed,
            "burst" => Arrival::Burst,
            _ => Arrival::Open,
        };
        clients.users = self.users.max(1);
        clients.requests = self.requests;
        if let Some(rate) = self.rate_per_s {
            clients.rate = Rate::per_second(rate).ok()?;
        }
        clients.timeout = Some(seconds(self.client_timeout_s));
        clients.timeout_mode =
            if self.timeout_mode == "phase" { TimeoutMode::Phase } else { TimeoutMode::Total };
        if let Some(pause) = self.retry_sleep_s {
            clients.retry = RetryConfig {
                attempts: 1_000_000,
                pause: seconds(pause),
                within: self.retry_max_s.map(seconds),
                ..RetryConfig::default()
            };
        }
        clients.silent_peers = self.stuck_conns;
        clients.background = self.background_sleep_ms.iter().copied().map(millis).collect();
        clients.stop_issuing_after = self.stop_issuing_after_s.map(seconds);
        if clients.arrival == Arrival::Open {
            clients.stop_issuing_after = None;
        }
        clients.connect_cpu = SimDuration::from_micros(12);
        clients.send_cpu = SimDuration::from_micros(10);
        clients.settle_cpu = SimDuration::from_micros(75);
        clients.receive_cpu = SimDuration::from_micros(78);
        Some(())
    }
}

/// A loop that burns `millis` of thread time ends 0 to 0.7 ms late (b13).
fn cpu_loop(millis_asked: f64) -> DurationDistribution {
    if millis_asked == 0.0 {
        return SimDuration::ZERO.into();
    }
    millis(millis_asked * 1.06).into()
}
