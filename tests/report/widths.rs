//! What every command prints fits a terminal of 80 columns, and what the answer says, for every
//! scenario that is shipped.

use std::fs;
use std::path::{Path, PathBuf};

use crate::convsim;

/// Columns.
const WIDTH: usize = 80;
/// Replications: enough for an interval.
const FEW: [&str; 2] = ["--replications", "5"];
/// Before it the answer ends; what follows is a path.
const PLACE: &str = "Results are in ";

/// The files of all scenarios, in order.
fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .filter(|path| !path.ends_with("scenario.schema.json"))
        .collect();
    files.sort();
    files
}

/// What a command prints in `folder`; FILE stands for the scenario.
fn printed(folder: &Path, file: &Path, words: &[&str]) -> String {
    let mut command = convsim();
    command.current_dir(folder);
    for word in words {
        if *word == "FILE" {
            command.arg(file)
        } else {
            command.arg(word)
        };
    }
    let output = command.output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{words:?} {file:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn fits(file: &Path, words: &[&str], text: &str) {
    assert!(!text.is_empty(), "{words:?} {file:?}");
    for line in text.lines().filter(|line| !line.starts_with(PLACE)) {
        let width = line.chars().count();
        assert!(width <= WIDTH, "{width} columns: {words:?} {file:?}: {line}");
    }
}

#[test]
fn tables_of_every_scenario_fit_80_columns_and_the_answers_read_well() {
    let folder = tempfile::tempdir().unwrap();
    let mut answers = String::new();
    for file in scenarios() {
        let words = [&["run", "FILE"][..], &FEW].concat();
        let text = printed(folder.path(), &file, &words);
        fits(&file, &words, &text);
        let name = file.file_stem().unwrap().to_string_lossy();
        let answer = text.rsplit("\n\n").nth(1).unwrap();
        answers.push_str(&format!("## {name}\n{}\n\n", answer.trim()));
    }
    insta::assert_snapshot!(answers);
}

#[test]
fn plans_checks_and_timelines_of_every_scenario_fit_80_columns() {
    let folder = tempfile::tempdir().unwrap();
    let commands: [&[&str]; 4] = [
        &["plan", "FILE"],
        &["trace", "FILE", "--explain"],
        &["trace", "FILE", "--text"],
        &["check", "FILE", "--replications", "2"],
    ];
    for file in scenarios() {
        for words in commands {
            fits(&file, words, &printed(folder.path(), &file, words));
        }
    }
}

#[test]
fn questions_and_comparisons_of_scenarios_fit_80_columns() {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = 0;
    for file in scenarios() {
        let text = fs::read_to_string(&file).unwrap();
        for question in ["solve", "sensitivity"] {
            if text.contains(&format!("\n  \"{question}\": {{")) {
                let words = [&[question, "FILE"][..], &FEW].concat();
                fits(&file, &words, &printed(folder.path(), &file, &words));
                asked += 1;
            }
        }
        let plan = printed(folder.path(), &file, &["plan", "FILE", "--format", "json"]);
        let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
        let name = |index: usize| plan["points"][index]["configuration"].as_str().unwrap();
        let words = [&["compare", "FILE", name(0), name(1)][..], &["--replications", "2"]].concat();
        fits(&file, &words, &printed(folder.path(), &file, &words));
    }
    assert!(asked >= 3, "{asked}");
}

#[test]
fn what_parts_and_their_merger_print_fits_80_columns() {
    let folder = tempfile::tempdir().unwrap();
    let file = scenarios().remove(0);
    for part in ["1/2", "2/2"] {
        let words = ["run", "FILE", "--replications", "5", "--shard", part, "--quiet"];
        printed(folder.path(), &file, &words);
    }
    let place = format!("outputs/{}", file.file_stem().unwrap().to_string_lossy());
    let words = ["merge", place.as_str()];
    fits(&file, &words, &printed(folder.path(), &file, &words));
}

#[test]
fn descriptions_of_models_fit_80_columns() {
    let folder = tempfile::tempdir().unwrap();
    let models = ["orchagent", "http_pool", "ipvs_estimator", "l3_agent"];
    let all = models.iter().map(|model| vec!["describe", model]);
    for words in all.chain([vec!["describe"]]) {
        fits(Path::new(""), &words, &printed(folder.path(), Path::new(""), &words));
    }
}
