use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use super::*;

fn run_to_end(place: &Place, arguments: &[&str]) -> String {
    let output = place.convsim(&[&["run", "links.json"], arguments].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    stderr(&output)
}

fn start(place: &Place, arguments: &[&str]) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin("convsim"))
        .args([&["run", "links.json", "--quiet"], arguments].concat())
        .current_dir(place.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn end(child: &mut Child, signal: &str) {
    // It may have ended by itself.
    let _ = Command::new("kill")
        .args([format!("-{signal}"), child.id().to_string()])
        .stderr(Stdio::null())
        .status();
    child.wait().unwrap();
}

fn leftovers(folder: &Path) -> Vec<String> {
    files(folder).into_iter().filter(|name| name.ends_with(".part")).collect()
}

#[test]
fn a_run_killed_at_any_moment_ends_as_one_that_was_not() {
    let place = Place::with_scenario("links", &expect("mean", r#""at_least": "0 s""#));
    let many = ["--replications", "600", "--threads", "2"];
    run_to_end(&place, &[&many[..], &["--output", "whole"]].concat());
    let whole = result(&place, "whole");
    // Any sequence of moments will do; the files must not depend on it.
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let (mut killed, mut folder) = (0, 0);
    while killed < 50 {
        let output = format!("cut{folder}");
        let arguments = [&many[..], &["--output", &output]].concat();
        // Ten kills in a row, then a run to the end.
        for _ in 0..10 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let mut child = start(&place, &arguments);
            thread::sleep(Duration::from_millis(5 + (random >> 33) % 120));
            end(&mut child, ["KILL", "TERM", "INT"][(random >> 40) as usize % 3]);
            killed += 1;
        }
        run_to_end(&place, &arguments);
        assert!(result(&place, &output) == whole, "after {killed} kills");
        assert_eq!(leftovers(&place.path(&output).join("links")), Vec::<String>::new());
        folder += 1;
    }
}

#[test]
fn what_is_complete_is_not_run_again() {
    let place = Place::with_scenario("links", "");
    run_to_end(&place, &["--output", "grown"]);
    let journal = place.path("grown/links/rows.journal");
    let size = fs::metadata(&journal).unwrap().len();
    let text = run_to_end(&place, &["--output", "grown"]);
    assert_eq!(text, "links: 40 of 40 replications are there already\n");
    assert_eq!(fs::metadata(&journal).unwrap().len(), size);
}

#[test]
fn replications_and_points_are_added_to_what_is_there() {
    let place = Place::with_scenario("links", "");
    run_to_end(&place, &["--output", "grown"]);
    let text = run_to_end(&place, &["--output", "grown", "--replications", "25"]);
    assert_eq!(text, "links: 40 of 100 replications are there already\n");
    let axis = ["--replications", "25", "--vary", "orchagent.pop_batch_size=32,64,128,256"];
    let text = run_to_end(&place, &[&axis[..], &["--output", "grown"]].concat());
    assert_eq!(text, "links: 100 of 150 replications are there already\n");
    run_to_end(&place, &[&axis[..], &["--output", "whole"]].concat());
    assert!(result(&place, "grown") == result(&place, "whole"));
    // Fewer replications are part of those that are there.
    run_to_end(&place, &["--output", "grown", "--replications", "5"]);
    run_to_end(&place, &["--output", "fewer", "--replications", "5"]);
    assert!(result(&place, "grown") == result(&place, "fewer"));
}

#[test]
fn a_larger_sobol_design_runs_only_the_points_that_are_new() {
    let place = Place::with_scenario("links", "");
    let design = |points: &'static str| {
        ["--vary", "orchagent.pop_batch_size=8..4096:log", "--design", points]
    };
    run_to_end(&place, &[&design("sobol:4")[..], &["--output", "grown"]].concat());
    let text = run_to_end(&place, &[&design("sobol:8")[..], &["--output", "grown"]].concat());
    // Two configurations and four points of ten replications each.
    assert_eq!(text, "links: 60 of 100 replications are there already\n");
    run_to_end(&place, &[&design("sobol:8")[..], &["--output", "whole"]].concat());
    assert!(result(&place, "grown") == result(&place, "whole"));
}

#[test]
fn a_configuration_that_is_called_otherwise_is_the_same_point() {
    let place = Place::with_scenario("links", "");
    run_to_end(&place, &[]);
    place.write("links.json", &scenario("links", "").replace("\"large\"", "\"old default\""));
    let text = run_to_end(&place, &[]);
    assert_eq!(text, "links: 40 of 40 replications are there already\n");
    assert!(place.read("outputs/links/results.csv").contains("old default"));
}

#[test]
fn results_of_something_else_are_refused_with_what_differs() {
    let place = Place::with_scenario("links", "");
    run_to_end(&place, &[]);
    let before = result(&place, "outputs");
    place.write("links.json", &scenario("links", "").replace("1024", "512"));
    let refused = place.convsim(&["run", "links.json", "--seed", "8", "--horizon", "60 s"]);
    assert_eq!(code(&refused), 2);
    insta::assert_snapshot!(stderr(&refused));
    assert!(result(&place, "outputs") == before);

    let fresh = ["--seed", "8", "--horizon", "60 s", "--fresh"];
    assert_eq!(run_to_end(&place, &fresh), "");
    run_to_end(&place, &[&fresh[..4], &["--output", "whole"]].concat());
    assert!(result(&place, "outputs") == result(&place, "whole"));
}

#[test]
fn a_model_that_was_changed_is_found_by_running_some_rows_again() {
    let place = Place::with_scenario("links", "");
    run_to_end(&place, &[]);
    // As if the model had given another seed's events: the name of the seed is changed, not the
    // rows.
    let journal = place.path("outputs/links/rows.journal");
    let other = place.path("other");
    run_to_end(&place, &["--seed", "8", "--output", "other"]);
    let rows_of = |path: &Path| {
        let bytes = fs::read(path).unwrap();
        // The header's record comes first, after 16 bytes: its length, its checksum, its text.
        let size = u32::from_le_bytes(bytes[16..20].try_into().unwrap()) as usize;
        bytes.split_at(16 + 12 + size).1.to_vec()
    };
    let bytes = fs::read(&journal).unwrap();
    let header = bytes.len() - rows_of(&journal).len();
    let mixed = [&bytes[..header], &rows_of(&other.join("links/rows.journal"))].concat();
    fs::write(&journal, mixed).unwrap();
    let refused = place.convsim(&["run", "links.json"]);
    assert_eq!(code(&refused), 2);
    let text = stderr(&refused);
    assert!(text.contains("a model was") && text.contains("--fresh"), "{text}");
}

#[test]
fn two_processes_on_one_folder_are_kept_apart() {
    let place = Place::with_scenario("links", "");
    // So many replications that it cannot end by itself.
    let mut first = start(&place, &["--replications", "1000000000"]);
    let journal = place.path("outputs/links/rows.journal");
    // Rows after the header show that the first has the folder.
    while fs::metadata(&journal).map_or(0, |data| data.len()) < 1 << 16 {
        thread::sleep(Duration::from_millis(5));
    }
    let second = place.convsim(&["run", "links.json"]);
    assert_eq!(code(&second), 2);
    insta::assert_snapshot!(stderr(&second));
    end(&mut first, "KILL");
    let text = run_to_end(&place, &[]);
    assert!(text.contains("of 40 replications are there already"), "{text}");
}
