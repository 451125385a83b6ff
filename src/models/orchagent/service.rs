//! How long each step takes in this replication.

use rand_distr::{Distribution, StandardNormal};

use super::config::{Config, Costs};
use super::route_table::Operation;
use crate::engine::{SimDuration, Stream, StreamSource};
use crate::quantities::{DurationDistribution, DurationSampler};

/// A cost of its own stream, so that one cost's draws move no other's.
#[derive(Debug)]
pub struct Cost {
    sampler: DurationSampler,
    stream: Stream,
    purpose: &'static str,
}

impl Cost {
    pub fn new(distribution: &DurationDistribution, purpose: &'static str) -> Self {
        let stream = StreamSource::default().stream("", purpose);
        Self { sampler: distribution.sampler(), stream, purpose }
    }

    pub fn reset(&mut self, seed: StreamSource, component: &str) {
        self.sampler.rewind();
        self.stream = seed.stream(component, self.purpose);
    }

    pub fn draw(&mut self) -> SimDuration {
        self.sampler.sample(&mut self.stream)
    }

    pub fn draw_sum(&mut self, count: u64) -> SimDuration {
        self.sampler.sample_sum(count, &mut self.stream)
    }
}

macro_rules! costs {
    ($($name:ident),+ $(,)?) => {
        /// Every cost of [`Costs`], ready for drawing.
        #[derive(Debug)]
        pub struct Service {
            $(pub $name: Cost,)+
            batch_sigma: f64,
            batch_variation: Stream,
        }

        impl Service {
            pub fn new(config: &Config) -> Self {
                let Costs { batch_variation, $($name,)+ } = &config.costs;
                Self {
                    $($name: Cost::new($name, concat!("costs.", stringify!($name))),)+
                    batch_sigma: libm::sqrt(libm::log1p(batch_variation * batch_variation)),
                    batch_variation: StreamSource::default().stream("", ""),
                }
            }

            pub fn reset(&mut self, seed: StreamSource, component: &str) {
                $(self.$name.reset(seed, component);)+
                self.batch_variation = seed.stream(component, "costs.batch_variation");
            }
        }
    };
}

costs!(
    select,
    pop_per_key,
    zmq_pop_per_entry,
    empty_pop,
    prepare_per_route,
    sai_create_route,
    sai_set_route,
    sai_remove_route,
    sai_bulk_call,
    publish_per_route,
    batch,
    notification,
    notification_delivery,
    lag,
    lag_member,
    neighbour,
    next_hop_group,
    next_hop_group_member,
    sweep,
    retry_per_entry,
);

impl Service {
    /// How much longer than the mean a batch takes in all its steps: log-normal with mean 1.
    pub fn batch_factor(&mut self) -> f64 {
        if self.batch_sigma == 0.0 {
            return 1.0;
        }
        let z: f64 = StandardNormal.sample(&mut self.batch_variation);
        libm::exp(self.batch_sigma * z - self.batch_sigma * self.batch_sigma / 2.0)
    }

    /// One SAI bulk call of `count` routes.
    pub fn bulk(&mut self, operation: Operation, count: u64) -> SimDuration {
        let routes = match operation {
            Operation::Create => self.sai_create_route.draw_sum(count),
            Operation::Set => self.sai_set_route.draw_sum(count),
            Operation::Remove => self.sai_remove_route.draw_sum(count),
            Operation::Nothing => return SimDuration::ZERO,
        };
        self.sai_bulk_call.draw().saturating_add(routes)
    }

    /// Creating or removing `groups` next-hop groups of `members` members each.
    pub fn next_hop_groups(&mut self, groups: u64, members: u64) -> SimDuration {
        self.next_hop_group
            .draw_sum(groups)
            .saturating_add(self.next_hop_group_member.draw_sum(groups.saturating_mul(members)))
    }
}

/// `duration` times `factor`.
pub fn scaled(duration: SimDuration, factor: f64) -> SimDuration {
    if factor == 1.0 { duration } else { SimDuration::from_seconds(duration.as_seconds() * factor) }
}
