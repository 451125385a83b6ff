//! Which executor the loop serves next (swss-common:select.cpp `Select::poll_descriptors`).

use super::config::PriorityMode;

/// The executors that matter to a link event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// PortsOrch's consumer of port notifications.
    PortNotification,
    /// LAG_TABLE.
    Lag,
    /// LAG_MEMBER_TABLE.
    LagMember,
    /// NEIGH_TABLE.
    Neighbour,
    /// ROUTE_TABLE.
    Route,
}

/// Every executor, in the order of `m_orchList`, which settles ties among the never used.
pub const EXECUTORS: [Executor; 5] = [
    Executor::PortNotification,
    Executor::Lag,
    Executor::LagMember,
    Executor::Neighbour,
    Executor::Route,
];

impl Executor {
    /// The declared priority (orchdaemon.cpp `init`, *orch.cpp; notifications 100). Not
    /// forwarded by `class Executor`, so without effect in any released swss.
    const fn priority(self) -> u32 {
        match self {
            Self::PortNotification => 100,
            Self::Lag => 44,
            Self::LagMember => 40,
            Self::Neighbour => 30,
            Self::Route => 5,
        }
    }
}

/// When each executor was last chosen.
#[derive(Debug, Default)]
pub struct LeastRecentlyUsed {
    stamps: [u64; EXECUTORS.len()],
    clock: u64,
}

impl LeastRecentlyUsed {
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Chooses among the ready executors and marks the chosen as used.
    pub fn choose(
        &mut self,
        mode: PriorityMode,
        ready: [bool; EXECUTORS.len()],
    ) -> Option<Executor> {
        let chosen = EXECUTORS
            .into_iter()
            .filter(|executor| ready[*executor as usize])
            .min_by_key(|executor| {
                let priority = match mode {
                    PriorityMode::Lru => 0,
                    PriorityMode::Honoured => executor.priority(),
                };
                (u32::MAX - priority, self.stamps[*executor as usize])
            })?;
        self.clock += 1;
        self.stamps[chosen as usize] = self.clock;
        Some(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_executors_take_turns_by_least_recent_use() {
        let mut turns = LeastRecentlyUsed::default();
        let ready = [true, false, false, false, true];
        let mut choose = || turns.choose(PriorityMode::Lru, ready);
        assert_eq!(choose(), Some(Executor::PortNotification));
        assert_eq!(choose(), Some(Executor::Route));
        assert_eq!(choose(), Some(Executor::PortNotification));
        assert_eq!(choose(), Some(Executor::Route));
        assert_eq!(turns.choose(PriorityMode::Lru, [false; 5]), None);
    }

    #[test]
    fn honoured_priorities_drain_notifications_before_the_next_route_batch() {
        let mut turns = LeastRecentlyUsed::default();
        let ready = [true, false, false, false, true];
        for _ in 0..5 {
            let chosen = turns.choose(PriorityMode::Honoured, ready);
            assert_eq!(chosen, Some(Executor::PortNotification));
        }
    }
}
