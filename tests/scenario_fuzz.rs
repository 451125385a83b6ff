//! No input panics, and what does not matter changes nothing.

use convsim::scenario::{LoadOptions, load};
use miette::{GraphicalReportHandler, GraphicalTheme};
use proptest::prelude::*;

/// A scenario that uses everything.
const SEED: &str = r#"{
  // A comment.
  "$schema": "scenario.schema.json",
  "name": "seed",
  "description": "d\u00e9 \n",
  "sources": ["a", "b",],
  "components": {
    "one": { "model": "orchagent", "pop_batch_size": 1024 },
    "two": { "model": "orchagent" }
  },
  "connections": [],
  "configurations": [
    { "name": "x", "note": "n", "set": { "one.pop_batch_size": 1 } },
    { "name": "y", "set": { "two.pop_batch_size": 1e2 } }
  ],
  "sweep": { "one.pop_batch_size": "1..8:log2", "two.pop_batch_size": [1, 2, 3] },
  "sweep_from": ["x"],
  "run": { "seed": 1, "replications": 3, "horizon": "5 s", "confidence": 0.9, "metrics": [] },
  "expect": [
    { "configuration": "x", "metric": "one.convergence_time", "between": ["0 s", "1 h"] },
    { "configuration": "y", "metric": "two.convergence_time", "equals": "1 s", "within": "5 %" }
  ]
}"#;

/// Loads `bytes` and renders whatever is wrong with them.
fn survive(bytes: &[u8], options: &LoadOptions) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.json");
    std::fs::write(&path, bytes).unwrap();
    if let Err(error) = load(&path, options) {
        let mut text = String::new();
        let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
        handler.render_report(&mut text, &*error).unwrap();
        assert!(!error.problems().is_empty());
        assert!(!text.is_empty());
    }
}

#[test]
fn the_seed_of_the_mutations_is_fine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.json");
    std::fs::write(&path, SEED).unwrap();
    assert_eq!(load(&path, &LoadOptions::default()).unwrap().points.len(), 14);
}

/// Pieces that are likely to go wrong in place of others.
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            "\"",
            ",",
            ":",
            "null",
            "true",
            "-1",
            "1e400",
            "NaN",
            "\\",
            "//",
            "/*",
            "*/",
            "\u{e9}",
            "\u{1f600}",
            "\u{0}",
            "\n",
            "9999999999999999999999",
            "\"1 s\"",
            "{}",
            "[]",
            "\"..\"",
            "\"1..2:log2\"",
            "\"one.pop_batch_size[0]\"",
            "\"orchagent\"",
            "0.5",
            "\"distribution\": \"empirical\", \"file\": \"x\", \"column\": \"c\", \"unit\": \"s\"",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        survive(&bytes, &LoadOptions::default());
    }

    #[test]
    fn arbitrary_changes_of_a_fine_file_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..40_usize, fragment()), 1..4),
    ) {
        let mut text: Vec<char> = SEED.chars().collect();
        for (at, removed, inserted) in changes {
            let at = at.index(text.len() + 1);
            let end = (at + removed).min(text.len());
            text.splice(at..end, inserted.chars());
        }
        survive(text.into_iter().collect::<String>().as_bytes(), &LoadOptions::default());
    }

    #[test]
    fn arbitrary_command_lines_never_panic(
        set in prop::collection::vec("(one|two|run|\\PC{0,3})[.\\[\\]=]\\PC{0,12}", 0..3),
        vary in prop::collection::vec(
            "(one|two).pop_batch_size=([0-9]{1,3}(\\.\\.|,)[0-9]{1,4}(:(log2|log10|linear|log))?(:[0-9]{1,4})?|\\PC{0,9})",
            0..3,
        ),
        configurations in prop::collection::vec("x|y|\\PC{0,3}", 0..2),
        max_points in 0..10_000_usize,
    ) {
        let options =
            LoadOptions { set, vary, configurations, max_points, ..LoadOptions::default() };
        survive(SEED.as_bytes(), &options);
    }

    #[test]
    fn the_order_of_axes_and_keys_does_not_change_a_points_identity(
        one in prop::collection::btree_set(1..1000_u32, 1..4),
        two in prop::collection::btree_set(1..1000_u32, 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let ids = |components: &str, axes: [String; 2]| {
            let path = folder.path().join("s.json");
            let text = format!(
                r#"{{ "name": "n", "components": {{ {components} }}, "sweep": {{ {} }} }}"#,
                axes.join(", ")
            );
            std::fs::write(&path, text).unwrap();
            let scenario = load(&path, &LoadOptions::default()).unwrap();
            let mut ids: Vec<u64> = scenario.points.iter().map(|point| point.id).collect();
            ids.sort_unstable();
            ids
        };
        let a = r#""a": { "model": "orchagent", "pop_batch_size": 5 }"#;
        let b = r#""b": { "pop_batch_size": 6, "model": "orchagent" }"#;
        let x = format!(r#""a.pop_batch_size": {:?}"#, one.into_iter().collect::<Vec<_>>());
        let y = format!(r#""b.pop_batch_size": {:?}"#, two.into_iter().collect::<Vec<_>>());
        let straight = ids(&format!("{a}, {b}"), [x.clone(), y.clone()]);
        let swapped = ids(&format!("{b}, {a}"), [y, x]);
        prop_assert_eq!(straight, swapped);
    }
}
