//! What happened when in one replication: for ui.perfetto.dev (`chrome`), as text (`text`), as the
//! causal chains of what was waited for (`explain`), and for pictures (`record`).

mod chrome;
mod explain;
mod record;
mod text;

#[cfg(test)]
mod tests;

pub use chrome::write_chrome;
pub use explain::explain;
pub use record::{Bar, Events, FILE, LaneRecord, Level, Moment, Record};
pub use text::text;

use crate::engine::Trace;
use crate::engine::trace::Lane;

/// A traced replication.
#[derive(Clone, Copy, Debug)]
pub struct Timeline<'t> {
    /// The names of the components.
    pub components: &'t [String],
    /// What was recorded.
    pub trace: &'t Trace,
}

impl Timeline<'_> {
    /// The name of a component.
    fn component(&self, index: u16) -> &str {
        self.components.get(usize::from(index)).map_or("?", String::as_str)
    }

    /// The name of a lane within its component.
    fn lane(&self, lane: Lane) -> String {
        let named = self.trace.lane_names.iter().find(|(known, _)| *known == lane);
        named.map_or_else(|| format!("lane {}", lane.lane), |(_, name)| name.clone())
    }

    /// Every lane on which something was recorded, in order.
    fn lanes(&self) -> Vec<Lane> {
        let spans = self.trace.spans.iter().map(|span| span.lane);
        let mut lanes: Vec<Lane> =
            spans.chain(self.trace.instants.iter().map(|instant| instant.lane)).collect();
        lanes.sort_unstable();
        lanes.dedup();
        lanes
    }
}
