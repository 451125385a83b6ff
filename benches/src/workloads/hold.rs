use rand::RngExt;

use super::variates::{exponential, fold, stream};
use crate::{Agenda, Handle, Model};

/// Mean of an ordinary increment: 1 ms.
const SHORT_MEAN_NS: f64 = 1e6;
/// Mean of a long increment: 1 s.
const LONG_MEAN_NS: f64 = 1e9;
/// How many of the increments are long.
const LONG_SHARE: f64 = 0.1;

/// How far ahead of the popped event the next one is armed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Increments {
    /// Exponential, 1 ms in the mean.
    Exponential,
    /// Short services among long timeouts: exponential with mean 1 ms nine times out of ten,
    /// with mean 1 s otherwise. In the long run about 9 of 1,000 pending events are short.
    Bimodal,
}

/// How many increments are drawn; the run goes round them.
const DRAWN: usize = 1 << 16;

/// The hold model: pop the earliest event, arm one at now + increment, with a constant number
/// pending. The increments are drawn beforehand, so that nothing but the event list is measured.
#[derive(Debug)]
pub struct Hold {
    /// How far ahead the events are that are pending at the start.
    initial: Vec<u64>,
    increments: Vec<u64>,
    next: usize,
    digest: u64,
}

impl Hold {
    /// With `pending` events.
    pub fn new(pending: u32, increments: Increments) -> Self {
        let mut random = stream("hold", "increment");
        let (long, long_pending) = match increments {
            Increments::Exponential => (0.0, 0.0),
            // In equilibrium from the start: what is pending is long in proportion to its
            // length, and what is left of an exponential time is exponential.
            Increments::Bimodal => {
                let long_weight = LONG_SHARE * LONG_MEAN_NS;
                let short_weight = (1.0 - LONG_SHARE) * SHORT_MEAN_NS;
                (LONG_SHARE, long_weight / (long_weight + short_weight))
            }
        };
        let mut draw = |count: usize, long_share: f64| -> Vec<u64> {
            let one = |_| {
                let is_long = random.random::<f64>() < long_share;
                exponential(&mut random, if is_long { LONG_MEAN_NS } else { SHORT_MEAN_NS })
            };
            (0..count).map(one).collect()
        };
        let initial = draw(pending as usize, long_pending);
        Self { initial, increments: draw(DRAWN, long), next: 0, digest: 0 }
    }
}

impl<T: Handle> Model<T> for Hold {
    /// The timer that goes off.
    type Event = T;

    const CANCELS: bool = false;

    fn start<A: Agenda<T, Self>>(agenda: &mut A) {
        for delay in std::mem::take(&mut agenda.model().initial) {
            let timer = agenda.add_timer();
            agenda.arm(timer, delay, timer);
        }
    }

    #[inline]
    fn handle<A: Agenda<T, Self>>(agenda: &mut A, timer: T) {
        let now = agenda.now();
        let model = agenda.model();
        model.digest = fold(model.digest, now);
        let delay = model.increments[model.next % DRAWN];
        model.next += 1;
        agenda.arm(timer, delay, timer);
    }

    fn digest(&self) -> u64 {
        self.digest
    }
}
