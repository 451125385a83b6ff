//! Points that a program asks for one by one, in place of a file's configurations.

use serde_json::{Map, Value};

use super::node::{Node, NodeValue};
use super::overrides::SWEEP_PARTS;
use super::source::{COMMAND_LINE, Sources};

/// What one point sets: values by path.
pub type Settings = Vec<(String, Value)>;

/// Replaces the configurations of `tree` by one for each of `points`, named by number. Each sets
/// what the only configuration left in the tree sets if `from_configuration`, then its own values.
pub fn replace_configurations(
    tree: &mut Node,
    points: &[Settings],
    from_configuration: bool,
    sources: &mut Sources,
) {
    let first = tree.get("configurations").and_then(|list| list.items().first());
    let base: Map<String, Value> = match first.and_then(|item| item.get("set")) {
        Some(set) if from_configuration => {
            set.entries().iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect()
        }
        _ => Map::new(),
    };
    let named = |(number, settings): (usize, &Settings)| {
        let mut set = base.clone();
        for (path, value) in settings {
            // A later setting wins by coming last.
            set.shift_remove(path);
            set.insert(path.clone(), value.clone());
        }
        let shown: Vec<String> =
            settings.iter().map(|(path, value)| format!("{path}={value}")).collect();
        let text = format!("point {number}: {}", shown.join(", "));
        let origin = sources.add(COMMAND_LINE.to_owned(), "".into(), text);
        let mut point = Map::new();
        point.insert("name".to_owned(), Value::from(format!("point {number}")));
        point.insert("set".to_owned(), Value::Object(set));
        Node::from_json(&Value::Object(point), origin)
    };
    let points: Vec<Node> = points.iter().enumerate().map(named).collect();
    let Some(origin) = points.first().map(|point| point.origin) else { return };
    if matches!(tree.value, NodeValue::Object(_)) {
        tree.remove("configurations");
        tree.insert("configurations", origin, Node::list(points, origin));
        for part in SWEEP_PARTS {
            tree.remove(part);
        }
    }
}
