//! Keys that have no effect with what else is set. A key that is written once for several configurations
//! is told of only when none of them uses it.

use std::collections::HashMap;

use super::keys;
use crate::models::{ModelConfig, Unused};
use crate::scenario::node::Node;
use crate::scenario::source::Origin;

/// A key of one component that some settings leave without effect.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effect {
    /// Where its value stands.
    origin: Origin,
    path: &'static str,
    /// Why it has none here; `None` where it has one.
    unused: Option<Unused>,
}

/// The keys with such a rule that are written in `node`, which `config` was read from.
pub(super) fn effects(config: &ModelConfig, node: &Node) -> Vec<Effect> {
    let unused = config.unused();
    let effect = |path: &'static str| {
        let origin = written(node, path)?;
        let unused = unused.iter().find(|unused| unused.path == path).copied();
        Some(Effect { origin, path, unused })
    };
    config.sometimes_unused().into_iter().filter_map(effect).collect()
}

/// Where the value at `path` was written, if it was: what setting a key beside it has brought in from the
/// defaults has its key and its value at the same place.
fn written(node: &Node, path: &str) -> Option<Origin> {
    let (group, key) = path.rsplit_once('.').unwrap_or(("", path));
    let group = keys(group).try_fold(node, |node, key| node.get(key))?;
    let entry = group.entries().iter().find(|entry| entry.key == key)?;
    (entry.key_origin != entry.value.origin).then_some(entry.value.origin)
}

/// What became of a key in the points so far.
struct Seen {
    component: String,
    effect: Effect,
    /// The first configuration that has it.
    first: String,
    configurations: usize,
}

/// What became of all such keys, in the order in which they were met.
#[derive(Default)]
pub(super) struct Effects {
    seen: Vec<Seen>,
    places: HashMap<(String, Origin, &'static str), usize>,
}

impl Effects {
    /// Adds those of a `component` as it is in one `configuration`.
    pub(super) fn add(&mut self, component: &str, configuration: &str, effects: &[Effect]) {
        for effect in effects {
            let key = (component.to_owned(), effect.origin, effect.path);
            let place = *self.places.entry(key).or_insert(self.seen.len());
            match self.seen.get_mut(place) {
                Some(seen) => {
                    seen.configurations += 1;
                    seen.effect.unused = seen.effect.unused.and(effect.unused);
                }
                None => self.seen.push(Seen {
                    component: component.to_owned(),
                    effect: *effect,
                    first: configuration.to_owned(),
                    configurations: 1,
                }),
            }
        }
    }

    /// Those that no configuration uses: the component, what to say, where it stands, the first
    /// configuration that has it and how many have it.
    pub(super) fn into_unused(
        self,
    ) -> impl Iterator<Item = (String, Unused, Origin, String, usize)> {
        self.seen.into_iter().filter_map(|seen| {
            let Seen { component, effect, first, configurations } = seen;
            Some((component, effect.unused?, effect.origin, first, configurations))
        })
    }
}
