//! Points with which nothing is wrong, as are nearly all of a large grid: made on several threads, and
//! without checking again what is known to be fine.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Component, MODEL, PointBuilder, Ready, settings};
use crate::models::{Finding, Severity};
use crate::scenario::design::PointDesign;
use crate::scenario::file::{component_schema, schema_ref};
use crate::scenario::node::{Node, NodeValue};
use crate::scenario::path::Path;
use crate::scenario::problem::Problems;
use crate::scenario::reading::NodeReader;
use crate::scenario::recording::has_reference;
use crate::scenario::schema_kind::keys_are_independent;
use crate::scenario::validate::Validator;

/// What is known to be fine, so that the points of a large grid are not checked key by key again.
#[derive(Default)]
pub(super) struct Checked {
    /// Whether the component is fine as it stands in the file, once it was asked.
    pub base: Option<bool>,
    /// Keys of the component with values that are fine, as JSON.
    pub keys: HashSet<(String, String)>,
}

impl Checked {
    /// Whether all `keys` of a component have values that are known to be fine.
    pub fn has(&self, node: &Node, keys: &[&str]) -> bool {
        pairs(node, keys).all(|pair| self.keys.contains(&pair))
    }
}

/// Each of `keys` of a component with its value as JSON.
pub(super) fn pairs<'n>(
    node: &'n Node,
    keys: &'n [&str],
) -> impl Iterator<Item = (String, String)> {
    let value = |key: &str| node.get(key).map_or_else(String::new, |v| v.to_json().to_string());
    keys.iter().map(move |&key| (key.to_owned(), value(key)))
}

/// What of a component is not as it was when it was found fine.
pub(super) fn part(node: &Node, keys: &[&str]) -> Node {
    let changed = |key: &str| key == MODEL || keys.contains(&key);
    let entries = node.entries().iter().filter(|entry| changed(&entry.key));
    Node { value: NodeValue::Object(entries.cloned().collect()), origin: node.origin }
}

/// What is wrong with a component, or a part of it, by the schema.
pub(super) fn check(node: &Node, path: &str) -> Problems {
    let mut found = Problems::default();
    Validator::new(schema_ref()).check(component_schema(), node, path, &mut found);
    found
}

impl PointBuilder<'_> {
    /// The components of a point with which nothing is wrong. `None` where that is not plain to see:
    /// [`PointBuilder::point`] then says what it is. The points of a large grid are nearly all fine,
    /// and this needs nothing that threads could quarrel about.
    pub(super) fn fine_point(&self, design: &PointDesign<'_>) -> Option<Vec<Arc<Ready>>> {
        let component = |component: &Component| {
            let own = settings(design, &component.name);
            if own.is_empty() { component.ready.clone()? } else { self.fine(component, &own) }
        };
        self.components.iter().map(component).collect()
    }

    /// One component of a point that is fine, as [`PointBuilder::component`] gives it.
    fn fine(&self, component: &Component, set: &[(&Path, &Node)]) -> Option<Arc<Ready>> {
        let Component { name, kind, defaults, checked, .. } = component;
        if checked.base != Some(true) || !keys_are_independent(*kind) {
            return None;
        }
        let mut node = component.node.clone();
        for (path, value) in set {
            path.set(&mut node, defaults, (*value).clone()).ok()?;
        }
        let mut keys: Vec<&str> = set.iter().filter_map(|(path, _)| path.own_key()).collect();
        keys.sort_unstable();
        keys.dedup();
        let path = format!("components.{name}");
        if !checked.has(&node, &keys) && !check(&part(&node, &keys), &path).is_empty() {
            return None;
        }
        if has_reference(&node) {
            return None;
        }
        let config = kind.config_from(NodeReader::without(&node, MODEL)).ok()?;
        let findings = config.check().into_iter().chain(config.check_horizon(self.horizon));
        let warning = |finding: Finding| match finding.severity {
            Severity::Error => None,
            Severity::Warning => Some(self.warning_text(&path, &node, &finding)),
        };
        let warnings = findings.map(warning).collect::<Option<_>>()?;
        Some(Arc::new(Ready::new(name.clone(), *kind, config, &node, warnings)))
    }
}
