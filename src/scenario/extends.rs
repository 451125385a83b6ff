//! Reading a file together with those that it extends.

use std::path::{Path, PathBuf};

use super::node::{Node, NodeValue};
use super::parse::parse;
use super::problem::{Problem, Problems};
use super::source::{MAX_FILE_BYTES, Origin, Sources};

/// Keys that tell which kind of object it is; an object of another kind replaces instead of
/// merging, because its other keys mean something else.
const KINDS: [&str; 3] = ["model", "distribution", "kind"];

/// Reads `path` and merges it over the files that it extends. `None` if any cannot be read; the
/// reasons go to `problems`.
pub fn read_with_extended(
    path: &Path,
    sources: &mut Sources,
    problems: &mut Problems,
) -> Option<Node> {
    read(path, None, &mut Vec::new(), sources, problems)
}

fn read(
    path: &Path,
    named_at: Option<Origin>,
    chain: &mut Vec<(PathBuf, String)>,
    sources: &mut Sources,
    problems: &mut Problems,
) -> Option<Node> {
    let shown = path.display().to_string();
    let mut fail = |problem: Problem| {
        let problem = match named_at {
            Some(_) => Problem::Extends { reason: Box::new(problem) },
            None => problem,
        };
        problems.add(problem, if named_at.is_some() { "extends" } else { "" }, named_at);
    };
    let text = match sources.read(path, MAX_FILE_BYTES) {
        Ok(text) => text,
        Err(problem) => {
            fail(problem);
            return None;
        }
    };
    let identity = sources.identity(path);
    if let Some(first) = chain.iter().position(|(earlier, _)| *earlier == identity) {
        let mut names: Vec<String> = chain[first..].iter().map(|(_, name)| name.clone()).collect();
        names.push(shown);
        problems.add(Problem::ExtendsCycle { chain: names }, "extends", named_at);
        return None;
    }
    chain.push((identity, shown.clone()));
    let folder = path.parent().unwrap_or_else(|| Path::new("")).to_owned();
    let whole = sources.add(shown, folder.clone(), text.clone());
    sources.note_file(path);
    let mut node = parse(&text, whole, problems)?;
    drop(text);
    let extended = node.remove("extends").map(|entry| entry.value);
    match extended.as_ref().map(|value| (value.as_text(), value.origin)) {
        None => Some(node),
        Some((Some(name), origin)) => {
            let mut merged = read(&folder.join(name), Some(origin), chain, sources, problems)?;
            merge(&mut merged, node);
            remove_null_keys(&mut merged);
            Some(merged)
        }
        Some((None, origin)) => {
            let value = extended.as_ref().map_or_else(String::new, |node| node.shown(60));
            let allowed = "the path of another scenario file, in quotation marks".to_owned();
            problems.add(Problem::WrongType { value, allowed }, "extends", Some(origin));
            None
        }
    }
}

/// Lays `over` over `base`.
fn merge(base: &mut Node, over: Node) {
    let same_kind = KINDS.iter().all(|key| {
        match (base.get(key).and_then(Node::as_text), over.get(key).and_then(Node::as_text)) {
            (Some(base), Some(over)) => base == over,
            _ => true,
        }
    });
    match (&mut base.value, over.value) {
        (NodeValue::Object(_), NodeValue::Object(entries)) if same_kind => {
            for entry in entries {
                match base.get_mut(&entry.key) {
                    Some(existing) => merge(existing, entry.value),
                    None => base.insert(&entry.key, entry.key_origin, entry.value),
                }
            }
            base.origin = over.origin;
        }
        (_, value) => *base = Node { value, origin: over.origin },
    }
}

fn remove_null_keys(node: &mut Node) {
    if let NodeValue::Object(entries) = &mut node.value {
        entries.retain(|entry| !matches!(entry.value.value, NodeValue::Null));
    }
}
