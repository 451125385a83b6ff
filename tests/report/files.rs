//! The files that `run`, `plot` and `report` write.

use std::fs;
use std::path::Path;

use crate::{convsim, scenario};

const NAME: &str = "chassis-packet-pop-batch";

fn run(output: &Path, extra: &[&str]) {
    convsim()
        .arg("run")
        .arg(scenario("chassis-packet-pop-batch.json"))
        .args(["--replications", "3", "--quiet", "--output"])
        .arg(output)
        .args(extra)
        .assert()
        .success();
}

#[test]
fn a_run_draws_its_pictures_and_writes_its_report() {
    let output = tempfile::tempdir().unwrap();
    run(output.path(), &[]);
    let folder = output.path().join(NAME);
    for name in ["sweep", "attribution", "difference", "distribution"] {
        for ending in ["svg", "png"] {
            let file = folder.join(format!("plots/{name}-packet-loss-duration.{ending}"));
            assert!(file.is_file(), "{}", file.display());
        }
    }
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("pop 128") && page.contains("<svg"));
    assert!(page.contains("Not pinned down by any source"));
}

#[test]
fn pictures_and_report_from_stored_results_are_those_of_the_run() {
    let output = tempfile::tempdir().unwrap();
    run(output.path(), &[]);
    let folder = output.path().join(NAME);
    let picture = folder.join("plots/sweep-packet-loss-duration.svg");
    let page = folder.join("report.html");
    let gantt = folder.join("plots/gantt.svg");
    let all = || [&picture, &page, &gantt].map(|file| fs::read(file).unwrap());
    let before = all();
    for file in [&picture, &page, &gantt] {
        fs::remove_file(file).unwrap();
    }
    convsim().args(["plot", "--kind", "sweep"]).arg(&folder).assert().success();
    convsim().args(["plot", "--kind", "gantt"]).arg(&folder).assert().success();
    convsim().arg("report").arg(&folder).assert().success();
    assert_eq!(before, all());
}

#[test]
fn without_plots_there_are_none() {
    let output = tempfile::tempdir().unwrap();
    run(output.path(), &["--no-plots"]);
    assert!(!output.path().join(NAME).join("plots").exists());
    // Nor are there those of an earlier run, which would show other results.
    run(output.path(), &[]);
    run(output.path(), &["--no-plots", "--configuration", "pop 128"]);
    let folder = output.path().join(NAME);
    assert!(!folder.join("report.html").exists());
    assert_eq!(fs::read_dir(folder.join("plots")).unwrap().count(), 0);
    assert!(!output.path().join(NAME).join("timeline.json").exists());
}

#[test]
fn a_folder_without_results_is_said_to_be_one() {
    let empty = tempfile::tempdir().unwrap();
    for command in ["plot", "report"] {
        let output = convsim().arg(command).arg(empty.path()).assert().code(2);
        let text = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
        assert!(text.contains("summary.json"), "{text}");
    }
}

/// What does not belong together gives no picture and no answer.
#[test]
fn results_that_are_not_those_of_the_summary_are_refused() {
    let output = tempfile::tempdir().unwrap();
    run(output.path(), &["--no-plots"]);
    let folder = output.path().join(NAME);
    let [rows, summary, timeline] =
        ["results.csv", "summary.json", "timeline.json"].map(|name| folder.join(name));
    let (table, document) =
        (fs::read_to_string(&rows).unwrap(), fs::read_to_string(&summary).unwrap());
    let first = table.lines().nth(1).unwrap().to_owned();
    let head = table.lines().next().unwrap();
    let place = head.split(',').position(|name| name == "packet_loss_duration").unwrap();
    let spoiled: Vec<&str> = first
        .split(',')
        .enumerate()
        .map(|(at, cell)| if at == place { "abc" } else { cell })
        .collect();
    for (what, file, text) in [
        ("2 rows", &rows, table.replacen(&format!("{first}\n"), "", 1)),
        ("which is no number", &rows, table.replacen(&first, &spoiled.join(","), 1)),
        ("of a point that summary.json has not", &rows, table.replacen("pop 128", "pop 127", 1)),
        ("version 99", &summary, document.replacen("\"version\": 1", "\"version\": 99", 1)),
        ("EOF", &timeline, "{ \"version\": 2, ".to_owned()),
    ] {
        fs::write(file, text).unwrap();
        for command in ["plot", "report"] {
            let output = convsim().arg(command).arg(&folder).assert().code(2);
            let error = String::from_utf8_lossy(&output.get_output().stderr).replace("\n  │ ", " ");
            assert!(error.contains(what), "{command}, {what}: {error}");
        }
        fs::write(&rows, &table).unwrap();
        fs::write(&summary, &document).unwrap();
    }
}

#[test]
fn shells_and_man_are_served() {
    for shell in ["bash", "zsh", "fish"] {
        let output = convsim().args(["completions", shell]).assert().success();
        assert!(String::from_utf8_lossy(&output.get_output().stdout).contains("convsim"));
    }
    let output = convsim().arg("man").assert().success();
    let page = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(page.contains(".TH") && page.contains("trace"));
}

#[test]
fn fish_completes_the_names_of_models_and_the_manual_says_where_more_is() {
    let printed = |words: &[&str]| {
        let output = convsim().args(words).assert().success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    };
    let fish = printed(&["completions", "fish"]);
    for command in ["describe", "new"] {
        for model in ["orchagent", "http_pool", "ipvs_estimator", "l3_agent"] {
            let line = format!("using_subcommand {command}\" -f -a \"{model}\"");
            assert!(fish.contains(&line), "{line}");
        }
    }
    let manual = printed(&["man"]);
    assert!(manual.contains(".SH \"SEE ALSO\"") && manual.contains("docs/json.md"));
}
