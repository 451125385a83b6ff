//! The commands that simulate, end to end through the binary.

mod check;
mod compare;
mod interruptions;
mod precision;
mod results_parquet;
mod resume;
mod run;
mod seeding;
mod sensitivity;
mod shards;
mod solve;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

/// A folder in which commands are run.
pub struct Place(TempDir);

impl Place {
    pub fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A place with the scenario `name.json`: two configurations, a sweep, and `expect`.
    pub fn with_scenario(name: &str, expect: &str) -> Self {
        let place = Self::empty();
        place.write(&format!("{name}.json"), &scenario(name, expect));
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs `convsim` with `arguments` here.
    pub fn convsim(&self, arguments: &[&str]) -> Output {
        let mut command = Command::cargo_bin("convsim").unwrap();
        // The width of help must not depend on where the tests run.
        command.env_remove("COLUMNS").env_remove("LINES");
        command.current_dir(self.0.path()).args(arguments).output().unwrap()
    }
}

pub fn scenario(name: &str, expect: &str) -> String {
    format!(
        r#"{{
  "name": "{name}",
  "components": {{ "orchagent": {{ "model": "orchagent" }} }},
  "configurations": [
    {{ "name": "large", "set": {{ "orchagent.pop_batch_size": 1024 }} }},
    {{ "name": "small", "set": {{ "orchagent.pop_batch_size": 128 }} }},
  ],
  "sweep": {{ "orchagent.pop_batch_size": [64, 128] }},
  "run": {{ "seed": 7, "replications": 10, "horizon": "3600 s" }},
  "expect": [{expect}]
}}"#
    )
}

/// An expectation on the convergence time of the configuration `large`.
pub fn expect(statistic: &str, bound: &str) -> String {
    format!(
        r#"{{ "configuration": "large", "metric": "convergence_time", "statistic": "{statistic}",
             {bound}, "source": "a test" }}"#
    )
}

pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The files that make up the result of the scenario `links` below `output`.
pub fn result(place: &Place, output: &str) -> Vec<Vec<u8>> {
    const RESULT: [&str; 7] = [
        "manifest.json",
        "report.html",
        "results.csv",
        "results.parquet",
        "summary.csv",
        "summary.json",
        "timeline.json",
    ];
    let folder = place.path(output).join("links");
    RESULT.iter().map(|name| fs::read(folder.join(name)).unwrap()).collect()
}

/// Names of the files in `folder`, sorted.
pub fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
