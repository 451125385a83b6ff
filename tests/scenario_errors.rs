//! What a user sees for every kind of bad input: the file, line and column, the path, the value,
//! what is allowed, and the line itself.

use std::path::Path;

use convsim::scenario::{LoadOptions, load};
use miette::{GraphicalReportHandler, GraphicalTheme};

/// A folder for the files of one test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.0.path().join(name), bytes).unwrap();
        self
    }

    /// The rendered error of `name`, without the place of the folder and without lists that grow
    /// with the models.
    fn error(&self, name: &str, options: &LoadOptions) -> String {
        let error = load(&self.0.path().join(name), options).unwrap_err();
        let mut text = String::new();
        let handler =
            GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(8000);
        handler.render_report(&mut text, &*error).unwrap();
        let folder = format!("{}{}", self.0.path().display(), std::path::MAIN_SEPARATOR);
        let text = text.replace(&folder, "").replace(&self.0.path().display().to_string(), ".");
        let mut lines: Vec<String> = Vec::new();
        // Which signals and metrics there are is the models' matter.
        let mut of_models = false;
        for line in text.lines() {
            if line.starts_with("  \u{d7}") {
                of_models =
                    line.contains("no signal called") || line.contains("\"metric\" is missing");
            }
            lines.push(match line.starts_with("  help:") && of_models {
                true => "  help: [...]".to_owned(),
                false => without_growing_lists(line),
            });
        }
        lines.join("\n")
    }
}

fn without_growing_lists(line: &str) -> String {
    let line = line.trim_end();
    // The range of a model's parameter is the model's matter.
    if line.contains("(keys)") {
        return "  help: allowed: a whole number [...]".to_owned();
    }
    for start in ["Known: ", "known: ", "allowed: one of ", "with the keys "] {
        let grows = ["pop_batch_size", "convergence_time"].iter().any(|word| line.contains(word));
        if let Some((before, listed)) = line.split_once(start)
            && (grows || listed == "orchagent" || listed.starts_with("orchagent, "))
        {
            return format!("{before}{start}[...]");
        }
    }
    line.to_owned()
}

/// The error of a single file.
fn error(text: &str) -> String {
    Folder::new().write("scenario.json", text).error("scenario.json", &LoadOptions::default())
}

/// The error of a fine file with a bad command line.
fn error_with(change: impl FnOnce(&mut LoadOptions)) -> String {
    let mut options = LoadOptions::default();
    change(&mut options);
    let text = r#"{
  "name": "fine",
  "components": { "orchagent": { "model": "orchagent", "pop_batch_size": 1024 } },
  "configurations": [{ "name": "small", "set": { "orchagent.pop_batch_size": 128 } }],
  "sweep": { "orchagent.pop_batch_size": [32, 64] }
}
"#;
    Folder::new().write("scenario.json", text).error("scenario.json", &options)
}

/// A scenario with `rest` after the component.
fn with(rest: &str) -> String {
    format!(
        "{{\n  \"name\": \"fine\",\n  \"components\": {{ \"orchagent\": {{ \"model\": \"orchagent\" }} }},\n  \
         {rest}\n}}\n"
    )
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn files_that_cannot_be_read() {
    let folder = Folder::new();
    let options = LoadOptions::default();
    folder.write("latin-1.json", b"{\n  \"name\": \"caf\xe9\"\n}");
    let large = std::fs::File::create(folder.0.path().join("large.json")).unwrap();
    large.set_len(100 << 20).unwrap();
    std::fs::create_dir(folder.0.path().join("folder")).unwrap();
    let shown: Vec<String> = ["missing.json", "folder", "latin-1.json", "large.json"]
        .iter()
        .map(|name| folder.error(name, &options))
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn texts_that_are_no_json() {
    let deep = "[".repeat(1_000_000);
    let shown = ["", "// nothing\n", "{ \"name\": }", "{ 'name': 1 }", "{ \"a\": 1 } 2", "[1 2]"]
        .into_iter()
        .chain(["{ \"name\": \"x", "/* no end", "{ \"a\": 0x10 }", &deep, "3"])
        .map(error);
    insta::assert_snapshot!(shown.collect::<Vec<_>>().join("\n"));
}

#[test]
fn deep_nesting_within_texts_and_comments_is_no_nesting() {
    let deep = "[".repeat(1000);
    let text = format!("// {deep}\n/* {deep} */ {{ \"name\": \"\\\"{deep}\" }}");
    assert!(!error(&text).contains("nested"));
}

#[test]
fn numbers_that_are_none() {
    insta::assert_snapshot!(error(&with(
        r#""run": {
    "seed": 1e400,
    "replications": NaN,
    "confidence": -Infinity,
    "event_budget": 99999999999999999999
  }"#
    )));
}

#[test]
fn keys_that_are_unknown_or_written_twice() {
    insta::assert_snapshot!(error(
        r#"{
  "nam": "typo",
  "name": "twice",
  "components": {
    "orchagent": { "model": "orchagent", "pop_batch_siz": 1024 },
    "other": { "model": "orchagnt" },
    "third": { "pop_batch_size": 1 }
  },
  "run": { "seed": 1, "sead": 2 },
  "name": "again",
}"#
    ));
}

#[test]
fn values_of_the_wrong_type_unit_or_range() {
    insta::assert_snapshot!(error(
        r#"{
  "name": "no blanks or slashes/",
  "sources": "one",
  "components": {
    "orchagent": { "model": "orchagent", "pop_batch_size": -1 },
    "b": { "model": "orchagent", "pop_batch_size": 1.5 },
    "c": { "model": "orchagent", "pop_batch_size": "many" },
    "not a name": { "model": "orchagent" },
  },
  "run": { "seed": -1, "horizon": 300, "confidence": 1, "replications": 0 }
}"#
    ));
    insta::assert_snapshot!(
        "durations",
        ["\"300\"", "\"5 minutes\"", "\"-3 s\"", "\"nan s\"", "\"1e30 h\"", "[]"]
            .map(|horizon| error(&with(&format!("\"run\": {{ \"horizon\": {horizon} }}"))))
            .join("\n")
    );
}

#[test]
fn lists_that_are_empty() {
    insta::assert_snapshot!(error(
        r#"{ "name": "x", "components": {}, "sweep": { "a.b": [] }, "sweep_from": [] }"#
    ));
}

#[test]
fn names_that_are_used_twice_or_unknown() {
    insta::assert_snapshot!(error(&with(
        r#""configurations": [
    { "name": "one", "set": { "orchagnt.pop_batch_size": 1 } },
    { "name": "one", "set": { "orchagent.pop_batch_siz": 1 } },
    { "name": "two", "set": { "orchagent": 3, "orchagent.model": "x", "orchagent..x": 1 } },
    { "name": "three", "set": { "orchagent.pop_batch_size.deep": 1, "orchagent.a[1": 1 } },
  ],
  "sweep": { "syncd.pop_batch_size": [1], "orchagent.pop_batch_size": [1, 2, 1] },
  "sweep_from": ["ones"],
  "connections": [
    { "from": "orchagnt.x", "to": "orchagent.y" },
    { "from": "orchagent", "to": "orchagent.y" },
  ],
  "run": { "metrics": ["convergence_tim"] }"#
    )));
}

#[test]
fn sweeps_that_are_too_large_or_no_range() {
    let sweep = |values: &str| error(&with(&format!(r#""sweep": {{ {values} }}"#)));
    let shown = [
        sweep(r#""orchagent.pop_batch_size": "32:log2""#),
        sweep(r#""orchagent.pop_batch_size": "4096..32:log2""#),
        sweep(r#""orchagent.pop_batch_size": "1..1000000""#),
        sweep(r#""orchagent.pop_batch_size": "0..3""#),
        sweep(r#""orchagent.pop_batch_size": "1..50000", "orchagent.x": "1..50000""#),
    ];
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_grid_larger_than_any_number_is_refused_before_it_is_made() {
    let axes: Vec<String> =
        (0..8).map(|axis| format!(r#""orchagent.a{axis}": "1..100000""#)).collect();
    let shown = error(&with(&format!(r#""sweep": {{ {} }}"#, axes.join(", "))));
    assert!(shown.contains("far above 100000"), "{shown}");
}

#[test]
fn expectations_that_cannot_be_tested() {
    insta::assert_snapshot!(error(&with(
        r#""configurations": [{ "name": "pop 1024" }, { "name": "pop 128" }],
  "expect": [
    { "configuration": "pop 1025", "metric": "convergence_time", "at_most": "1 s" },
    { "configuration": "pop 1024", "metric": "convergence_tim", "at_most": "1 s" },
    { "configuration": "pop 1024", "at_most": "1 s" },
    { "configuration": "pop 1024", "metric": "convergence_time", "statistic": "p98", "at_most": "1 s" },
    { "configuration": "pop 1024", "metric": "convergence_time", "at_most": 1 },
    { "configuration": "pop 1024", "metric": "convergence_time", "between": ["2 s", "1 s"] },
    { "configuration": "pop 1024", "metric": "convergence_time", "between": ["2 s"] },
    { "configuration": "pop 1024", "metric": "convergence_time", "between": ["2/s", "5 %"] },
    { "configuration": "pop 1024", "metric": "convergence_time" },
    { "configuration": "pop 1024", "metric": "convergence_time", "at_most": "1 s", "equals": "1 s" },
    { "configuration": "pop 1024", "metric": "convergence_time", "equals": "1 s" },
    { "configuration": "pop 1024", "metric": "convergence_time", "equals": "1 s", "within": 0.1 },
    { "configuration": "pop 1024", "metric": "convergence_time", "ratio_to": "pop 128", "at_most": "1 s" },
    { "configuration": "pop 1024", "metric": "convergence_time", "ratio_to": "pop 12", "at_most": 2 },
    { "configuration": "pop 1024", "statistic": "not_converged", "at_most": "1 s" },
    { "metric": "convergence_time", "at_most": "1 s" },
    { "ordering": ["pop 128", "pop 12"], "metric": "convergence_time" },
    { "ordering": ["pop 128", "pop 1024"], "metric": "convergence_time", "at_most": "1 s" },
    { "ordering": ["pop 128", "pop 1024"] },
    { "ordering": ["pop 128"], "metric": "convergence_time" },
  ]"#
    )));
}

#[test]
fn recordings_that_cannot_be_used() {
    let folder = Folder::new();
    folder.write("x.csv", "ms,text\n1.5,slow\n2,fast\n");
    folder.write(
        "s.json",
        with(
            r#""configurations": [{ "name": "pop 1024" }],
  "recorded": [
    { "configuration": "pop 1025", "metric": "convergence_time", "values": ["1 s"], "source": "s" },
    { "configuration": "pop 1024", "metric": "convergence_tim", "values": ["1 s"], "source": "s" },
    { "configuration": "pop 1024", "metric": "convergence_time", "values": [1], "source": "s" },
    { "configuration": "pop 1024", "metric": "convergence_time", "values": ["1 s", "5 %"], "source": "s" },
    { "configuration": "pop 1024", "metric": "convergence_time", "unit": "pints", "values": [1], "source": "s" },
    { "configuration": "pop 1024", "metric": "convergence_time", "values": [], "source": "s" },
    { "configuration": "pop 1024", "metric": "convergence_time", "values": ["1 s"] },
    { "configuration": "pop 1024", "metric": "convergence_time", "source": "s" },
    { "configuration": "pop 1024", "metric": "convergence_time", "values": ["1 s"], "file": "x.csv", "column": "ms", "source": "s" },
    { "configuration": "pop 1024", "metric": "convergence_time", "file": "y.csv", "column": "ms", "unit": "ms", "source": "s" },
    { "configuration": "pop 1024", "metric": "convergence_time", "file": "x.csv", "column": "s", "unit": "ms", "source": "s" },
    { "configuration": "pop 1024", "metric": "convergence_time", "file": "x.csv", "column": "ms", "source": "s" },
    { "configuration": "pop 1024", "metric": "convergence_time", "file": "x.csv", "column": "text", "unit": "ms", "source": "s" },
    { "configuration": "pop 1024", "metric": "convergence_time", "value": ["1 s"], "source": "s" },
  ]"#,
        ),
    );
    insta::assert_snapshot!(folder.error("s.json", &LoadOptions::default()));
}

#[test]
fn bad_command_lines() {
    let shown = [
        error_with(|o| o.set = strings(&["orchagent.pop_batch_size"])),
        error_with(|o| o.set = strings(&["orchagent.pop_batch_siz=1", "run.sed=2", "ran.seed=3"])),
        error_with(|o| o.set = strings(&["orchagent.pop_batch_size=-1"])),
        error_with(|o| o.set = strings(&["run.horizon=300"])),
        error_with(|o| o.vary = strings(&["orchagnt.pop_batch_size=1,2"])),
        error_with(|o| o.vary = strings(&["orchagent.pop_batch_size=1,x,[3"])),
        error_with(|o| o.vary = strings(&["orchagent.pop_batch_size="])),
        error_with(|o| o.vary = strings(&["orchagent.pop_batch_size=9..1"])),
        error_with(|o| o.configurations = strings(&["smal"])),
        error_with(|o| o.max_points = 2),
        error_with(|o| {
            o.set = strings(&["orchagent.pop_batch_size=1"]);
            o.vary = strings(&["orchagent.pop_batch_size=1,2"]);
        }),
    ];
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_mistake_that_the_command_line_makes_names_what_it_says() {
    let folder = Folder::new();
    folder.write(
        "s.json",
        r#"{
  "name": "s",
  "components": {
    "o": { "model": "orchagent", "flap": { "count": 3 } },
    "i": { "model": "ipvs_estimator", "observe_for": "20 s" }
  },
  "run": { "replications": 25, "horizon": "60 s" }
}"#,
    );
    let with = |set: &[&str]| {
        folder.error("s.json", &LoadOptions { set: strings(set), ..LoadOptions::default() })
    };
    let shown = [
        with(&["run.antithetic=true"]),
        with(&["o.topology.paths=2", "i.warm_up=1 s"]),
        with(&["run.horizon=10 s", "run.seed=3"]),
        with(&["o.flap.count=900"]),
    ];
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn files_that_extend_wrongly() {
    let folder = Folder::new();
    folder
        .write("missing.json", r#"{ "extends": "nowhere.json" }"#)
        .write("number.json", r#"{ "extends": 3 }"#)
        .write("folder.json", r#"{ "extends": "." }"#)
        .write("itself.json", r#"{ "extends": "./itself.json" }"#)
        .write("one.json", r#"{ "extends": "two.json" }"#)
        .write("two.json", "{\n  \"extends\": \"one.json\"\n}")
        .write("base.json", with(r#""run": { "horizon": 3 }"#))
        .write("child.json", r#"{ "extends": "base.json", "run": { "seed": "x" } }"#);
    let files = ["missing.json", "number.json", "folder.json", "itself.json", "one.json"];
    let shown: Vec<String> = files
        .into_iter()
        .chain(["child.json"])
        .map(|name| folder.error(name, &LoadOptions::default()))
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_very_long_line_is_shown_in_part() {
    let blanks = " ".repeat(100_000);
    let shown = error(&with(&format!(r#"{blanks}"run": {{ "sead": 1 }}{blanks}"#)));
    assert!(shown.len() < 2000, "{shown}");
    assert!(shown.contains("\"sead\""), "{shown}");
}

#[test]
fn a_file_with_hundreds_of_problems_shows_the_first_and_counts_the_others() {
    let keys: Vec<String> = (0..500).map(|key| format!("\"k{key}\": 1")).collect();
    let shown = error(&with(&keys.join(", ")));
    assert!(shown.contains("500 problems, of which the first 50 are shown"), "{shown}");
}

#[test]
fn an_error_is_found_where_it_was_written() {
    let error = load(Path::new("nowhere.json"), &LoadOptions::default()).unwrap_err();
    assert_eq!(error.problems()[0].message(), "nowhere.json does not exist");
    let folder = Folder::new();
    folder.write("s.json", with(r#""run": { "seed": -1 }"#));
    let path = folder.0.path().join("s.json");
    let error = load(&path, &LoadOptions::default()).unwrap_err();
    assert_eq!(error.problems()[0].path(), "run.seed");
    assert!(error.problems()[0].place().ends_with("s.json:4:20"));
}

#[test]
fn a_recording_without_its_column_asks_for_it_and_not_for_values() {
    let text = error(
        r#"{ "name": "x", "components": { "orchagent": { "model": "orchagent",
            "teamd": { "reaction": { "distribution": "empirical", "file": "a.csv" } } } } }"#,
    );
    assert!(text.contains("\"column\" is missing"), "{text}");
    assert!(text.contains("\"unit\" is missing"), "{text}");
    assert!(!text.contains("unknown key"), "{text}");
}

#[test]
fn a_name_of_null_is_no_name() {
    let text =
        error(r#"{ "name": null, "components": { "orchagent": { "model": "orchagent" } } }"#);
    assert!(text.contains("\"name\" is missing"), "{text}");
}

#[test]
fn a_horizon_at_the_start_leaves_nothing_to_run() {
    let text = error(
        r#"{ "name": "x", "components": { "orchagent": { "model": "orchagent" } },
            "run": { "horizon": "0 s" } }"#,
    );
    assert!(text.contains("run.horizon: 0 s is out of range"), "{text}");
}

#[test]
fn names_with_control_characters_are_refused_and_not_repeated_as_they_are() {
    let of = |name: &str| {
        let component = r#""components": { "o": { "model": "orchagent" } }"#;
        error(&format!(
            "{{ \"name\": \"fine\", {component},\n  \"configurations\": [{{ \"name\": \"{name}\" }}] }}"
        ))
    };
    for name in [r"12\u00008", r"12\u001b[31m", r"12\u009b31m"] {
        let text = of(name);
        assert!(text.contains("has a control character"), "{text}");
        assert!(
            text.contains("scenario.json:2:") && text.contains("configurations[0].name"),
            "{text}"
        );
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    }
    assert!(of(r"12\n8").contains("a name in one line"));
    assert!(error("{ \"na\\u0000me\": 1 }").contains("has a control character"));
}
