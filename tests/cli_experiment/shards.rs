use super::*;

fn ok(place: &Place, arguments: &[&str]) -> String {
    let output = place.convsim(arguments);
    assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

/// Runs every part with `arguments`, then merges them.
fn in_parts(place: &Place, parts: u64, arguments: &[&str], output: &str) {
    for part in 1..=parts {
        let shard = format!("{part}/{parts}");
        let own = ["run", "links.json", "--shard", &shard, "--output", output, "--quiet"];
        ok(place, &[&own[..], arguments].concat());
    }
    ok(place, &["merge", &format!("{output}/links"), "--output", output, "--quiet"]);
}

#[test]
fn the_commands_of_an_incomplete_merge_can_be_run_as_they_are() {
    let place = Place::with_scenario("links", "");
    let part = ["run", "links.json", "--no-plots", "--replications", "7", "--output", "parts"];
    assert_eq!(code(&place.convsim(&[&part[..], &["--shard", "1/2"]].concat())), 0);
    let merge = || place.convsim(&["merge", "parts/links", "--output", "whole", "--no-plots"]);
    let output = merge();
    assert_eq!(code(&output), 2);
    let command = stdout(&output);
    assert_eq!(
        command.trim(),
        "convsim run links.json --replications 7 --output parts --shard 2/2"
    );
    let words: Vec<&str> = command.split_whitespace().skip(1).chain(["--no-plots"]).collect();
    assert_eq!(code(&place.convsim(&words)), 0);
    let output = merge();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    // A part that was asked for more than the other says so.
    let more = ["run", "links.json", "--no-plots", "--replications", "9", "--output", "parts"];
    assert_eq!(code(&place.convsim(&[&more[..], &["--shard", "2/2"]].concat())), 0);
    let output = place.convsim(&["merge", "parts/links", "--output", "whole", "--no-plots"]);
    assert!(
        stderr(&output).contains("different numbers of replications (7, 9)"),
        "{}",
        stderr(&output)
    );
    assert_eq!(code(&output), 2);
}

#[test]
fn any_number_of_parts_on_any_number_of_threads_gives_the_same_bytes() {
    let place = Place::with_scenario("links", &expect("mean", r#""at_least": "0 s""#));
    let arguments = ["--replications", "40"];
    ok(&place, &["run", "links.json", "--replications", "40", "--output", "whole"]);
    let whole = result(&place, "whole");
    for (parts, threads) in [(1, "1"), (2, "2"), (7, "1"), (16, "2")] {
        let output = format!("parts{parts}");
        in_parts(&place, parts, &[&arguments[..], &["--threads", threads]].concat(), &output);
        assert!(result(&place, &output) == whole, "{parts} parts, {threads} threads");
    }
}

#[test]
fn a_stopping_rule_gives_the_same_in_parts() {
    let place = Place::with_scenario("links", "");
    let arguments = ["--replications", "10..500", "--until", "convergence_time<=1%"];
    ok(&place, &[&["run", "links.json", "--output", "whole"], &arguments[..]].concat());
    in_parts(&place, 3, &arguments, "parts");
    assert!(result(&place, "parts") == result(&place, "whole"));
}

#[test]
fn what_is_missing_is_named_with_what_runs_just_that() {
    let place = Place::with_scenario("links", "");
    let sweep = ["--vary", "orchagent.pop_batch_size=32,64"];
    ok(&place, &[&["run", "links.json", "--output", "whole"], &sweep[..]].concat());
    for part in ["1/3", "3/3", "3/3"] {
        ok(&place, &[&["run", "links.json", "--shard", part], &sweep[..]].concat());
    }
    let incomplete = place.convsim(&["merge", "outputs/links"]);
    assert_eq!(code(&incomplete), 2);
    // Which part a point starts with follows from its identity, that is from all parameters.
    insta::with_settings!({ filters => [(r"1[234] replications", "[a third] of the replications")] }, {
        insta::assert_snapshot!(stderr(&incomplete));
    });
    assert_eq!(
        stdout(&incomplete),
        "convsim run links.json --vary orchagent.pop_batch_size=32,64 --shard 2/3\n"
    );
    assert!(!place.path("outputs/links/results.csv").exists());

    ok(&place, &[&["run", "links.json", "--shard", "2/3"], &sweep[..]].concat());
    let text = ok(&place, &["merge", "outputs/links"]);
    assert!(text.contains("4 points x 10 replications"), "{text}");
    assert!(result(&place, "outputs") == result(&place, "whole"));
    // Once merged, a run finds everything there.
    let again = place.convsim(&[&["run", "links.json"], &sweep[..]].concat());
    assert_eq!(stderr(&again), "links: 40 of 40 replications are there already\n");
}

#[test]
fn parts_from_several_folders_count_once() {
    let place = Place::with_scenario("links", "");
    ok(&place, &["run", "links.json", "--output", "whole"]);
    for (part, output) in [("1/2", "here"), ("1/2", "there"), ("2/2", "there")] {
        ok(&place, &["run", "links.json", "--shard", part, "--output", output]);
    }
    ok(&place, &["merge", "here/links", "there/links"]);
    assert!(result(&place, "outputs") == result(&place, "whole"));
}

#[test]
fn parts_of_different_runs_are_refused() {
    let place = Place::with_scenario("links", "");
    ok(&place, &["run", "links.json", "--shard", "1/2"]);
    ok(&place, &["run", "links.json", "--shard", "2/2", "--seed", "9", "--fresh"]);
    let refused = place.convsim(&["merge", "outputs/links"]);
    assert_eq!(code(&refused), 2);
    assert!(stderr(&refused).contains("seed was 9, is 7"), "{}", stderr(&refused));
    // There is nothing that merge itself could run.
    assert!(stderr(&refused).contains("run that part anew"), "{}", stderr(&refused));
}

#[test]
fn a_part_is_not_run_beside_rows_with_which_it_cannot_be_merged() {
    for earlier in [&["--shard", "1/2"][..], &[]] {
        let place = Place::with_scenario("links", "");
        ok(&place, &[&["run", "links.json"], earlier].concat());
        let other = ["run", "links.json", "--shard", "1/3", "--seed", "9"];
        let refused = place.convsim(&other);
        assert_eq!(code(&refused), 2);
        assert!(stderr(&refused).contains("seed was 7, is 9"), "{}", stderr(&refused));
        assert!(stderr(&refused).contains("nothing was simulated"), "{}", stderr(&refused));
        assert!(!place.path("outputs/links/shards/1-of-3").exists());
        // What was there goes on as it was.
        ok(&place, &["run", "links.json", "--shard", "1/2"]);
        ok(&place, &["run", "links.json", "--shard", "2/2"]);
        ok(&place, &["merge", "outputs/links"]);
    }
}

#[test]
fn parts_that_were_run_under_another_name_are_merged_by_the_scenario_named() {
    let place = Place::with_scenario("links", "");
    ok(&place, &["run", "links.json", "--output", "whole"]);
    std::fs::rename(place.path("links.json"), place.path("mounted.json")).unwrap();
    for part in ["1/2", "2/2"] {
        ok(&place, &["run", "mounted.json", "--shard", part, "--quiet"]);
    }
    std::fs::rename(place.path("mounted.json"), place.path("links.json")).unwrap();
    assert_eq!(code(&place.convsim(&["merge", "outputs/links"])), 2);
    ok(&place, &["merge", "outputs/links", "--scenario", "links.json", "--quiet"]);
    assert!(result(&place, "outputs") == result(&place, "whole"));
}

#[test]
fn a_folder_without_parts_cannot_be_merged() {
    let place = Place::with_scenario("links", "");
    ok(&place, &["run", "links.json"]);
    for folder in ["outputs/links", "nowhere"] {
        assert_eq!(code(&place.convsim(&["merge", folder])), 2, "{folder}");
    }
}

#[test]
fn the_part_is_taken_from_a_slurm_array_or_a_kubernetes_job() {
    let place = Place::with_scenario("links", "");
    let run = |variables: &[(&str, &str)]| {
        let mut command = Command::cargo_bin("convsim").unwrap();
        for name in ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"] {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied()).current_dir(place.path(""));
        command.args(["run", "links.json", "--shard", "auto"]).output().unwrap()
    };
    let slurm = run(&[
        ("SLURM_ARRAY_TASK_ID", "7"),
        ("SLURM_ARRAY_TASK_MIN", "5"),
        ("SLURM_ARRAY_TASK_STEP", "2"),
        ("SLURM_ARRAY_TASK_COUNT", "3"),
    ]);
    assert!(stdout(&slurm).contains("part 2/3"), "{}", stderr(&slurm));
    let kubernetes = run(&[("JOB_COMPLETION_INDEX", "0"), ("JOB_COMPLETIONS", "4")]);
    assert!(stdout(&kubernetes).contains("part 1/4"), "{}", stderr(&kubernetes));
    for wrong in [
        &[][..],
        &[("JOB_COMPLETION_INDEX", "4"), ("JOB_COMPLETIONS", "4")],
        &[("JOB_COMPLETION_INDEX", "x"), ("JOB_COMPLETIONS", "4")],
        &[("JOB_COMPLETION_INDEX", "1")],
    ] {
        assert_eq!(code(&run(wrong)), 2, "{wrong:?}");
    }
}
