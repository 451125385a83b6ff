use convsim::engine::Stream;
use rand_distr::{Bernoulli, Distribution};

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

/// The hold model: pop the earliest event, arm one at now + increment, with a constant number
/// pending.
#[derive(Debug)]
pub struct Hold {
    pending: u32,
    increments: Increments,
    stream: Stream,
    long: Bernoulli,
    digest: u64,
}

impl Hold {
    /// With `pending` events.
    pub fn new(pending: u32, increments: Increments) -> Self {
        Self {
            pending,
            increments,
            stream: stream("hold", "increment"),
            long: share(LONG_SHARE),
            digest: 0,
        }
    }

    #[inline]
    fn increment(&mut self) -> u64 {
        let is_long = self.increments == Increments::Bimodal && self.long.sample(&mut self.stream);
        exponential(&mut self.stream, if is_long { LONG_MEAN_NS } else { SHORT_MEAN_NS })
    }
}

fn share(probability: f64) -> Bernoulli {
    Bernoulli::new(probability).expect("a share is a probability")
}

impl<T: Handle> Model<T> for Hold {
    /// The timer that goes off.
    type Event = T;

    const CANCELS: bool = false;

    fn start<A: Agenda<T, Self>>(agenda: &mut A) {
        // In equilibrium from the start: what is pending is long in proportion to its length,
        // and what is left of an exponential time is exponential.
        let long_weight = LONG_SHARE * LONG_MEAN_NS;
        let short_weight = (1.0 - LONG_SHARE) * SHORT_MEAN_NS;
        let long_pending = share(long_weight / (long_weight + short_weight));
        let arriving = std::mem::replace(&mut agenda.model().long, long_pending);
        for _ in 0..agenda.model().pending {
            let timer = agenda.add_timer();
            let delay = agenda.model().increment();
            agenda.arm(timer, delay, timer);
        }
        agenda.model().long = arriving;
    }

    #[inline]
    fn handle<A: Agenda<T, Self>>(agenda: &mut A, timer: T) {
        let now = agenda.now();
        let model = agenda.model();
        model.digest = fold(model.digest, now);
        let delay = model.increment();
        agenda.arm(timer, delay, timer);
    }

    fn digest(&self) -> u64 {
        self.digest
    }
}
