//! The discrete-event engine: virtual time, the event list, the simulation loop, random streams
//! and the trace hook. It knows nothing of any system that is simulated with it.
//!
//! - [`time`]: integer-nanosecond instants and spans.
//! - [`event_list`]: the indexed 4-ary heap over timer slots.
//! - [`simulation`]: the [`Engine`] that components arm timers on, and its loop.
//! - [`random`]: named streams and the stable hash behind them.
//! - [`trace`]: spans, instants and levels of one run.
//!
//! A component owns its state, arms timers and is called when they go off:
//!
//! ```
//! use convsim::engine::{Component, Engine, Limits, RunEnd, SimDuration, StreamSeed, Timer};
//!
//! /// Ticks `remaining` times, one second apart.
//! struct Ticker {
//!     remaining: u32,
//!     timer: Option<Timer>,
//! }
//!
//! #[derive(Clone, Copy)]
//! struct Tick;
//!
//! impl Component for Ticker {
//!     type Event = Tick;
//!
//!     fn start<G: Copy + From<Tick>>(&mut self, engine: &mut Engine<G>) {
//!         let timer = engine.add_timer();
//!         engine.arm(timer, SimDuration::from_whole_seconds(1), Tick);
//!         self.timer = Some(timer);
//!     }
//!
//!     fn handle<G: Copy + From<Tick>>(&mut self, engine: &mut Engine<G>, tick: Tick) {
//!         self.remaining -= 1;
//!         if let (Some(timer), true) = (self.timer, self.remaining > 0) {
//!             engine.arm(timer, SimDuration::from_whole_seconds(1), tick);
//!         }
//!     }
//! }
//!
//! let mut engine = Engine::new(StreamSeed { master: 1, replication: 0 });
//! let mut ticker = Ticker { remaining: 3, timer: None };
//! assert_eq!(engine.run(&mut ticker, Limits::default()), RunEnd::Idle);
//! assert_eq!(engine.now().as_seconds(), 3.0);
//! ```

pub mod event_list;
pub mod random;
pub mod simulation;
pub mod time;
pub mod trace;

pub use event_list::{EventList, MAX_SLOTS, PriorityClass};
pub use random::{StableHash, Stream, StreamSeed, StreamSource};
pub use simulation::{Component, Engine, HandledEvent, Limits, Place, Root, RunEnd, Signal, Timer};
pub use time::{SimDuration, SimTime};
pub use trace::Trace;
