//! What must hold of every report.

use super::html;
use crate::report::plots::plots;
use crate::report::tests::{point, stored};
use crate::scenario::Point;

fn report(names: &[&str]) -> String {
    page(names.iter().zip(1..).map(|(name, id)| point(id, name, &[])).collect())
}

fn page(points: Vec<Point>) -> String {
    let mut stored = stored(points, 40);
    stored.summary.description = "How long? <script>alert(2)</script>".to_owned();
    let drawn = plots(&stored, None, None);
    html(&stored, &drawn).unwrap()
}

#[test]
fn a_script_in_a_name_stays_text() {
    let evil = "</td><script>alert(1)</script>\" onload='x'";
    let page = report(&[evil, "pop 128"]);
    assert!(!page.contains("<script>alert"), "{page}");
    assert!(!page.contains("onload='"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;&#x2f;script&gt;"));
    assert_eq!(page.matches("<script").count(), 1);
}

/// A sweep over two parameters from `base`.
fn swept(base: &str) -> Vec<Point> {
    let one = |(count, size): (u64, u64)| {
        let axes = [("orchagent.flap.count", count), ("orchagent.pop_batch_size", size)];
        let settings = format!("orchagent.flap.count={count}, orchagent.pop_batch_size={size}");
        point(count * 10_000 + size, &format!("{base}, {settings}"), &axes)
    };
    [1, 7]
        .into_iter()
        .flat_map(|count| [32, 128, 1024].map(|size| (count, size)))
        .map(one)
        .collect()
}

/// The data of the panel, as a browser reads them.
fn data(page: &str) -> serde_json::Value {
    let text =
        page.split("id=\"what-if-data\">").nth(1).unwrap().split("</script>").next().unwrap();
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_panel_has_every_point_of_the_sweep_with_its_place_in_the_pictures() {
    let mut points = swept("era A");
    points.extend(swept("era B").into_iter().map(|point| Point { id: point.id + 1, ..point }));
    let data = data(&page(points));
    let axis = |index: usize| (&data["axes"][index]["path"], &data["axes"][index]["values"]);
    assert_eq!(axis(0), (&"from".into(), &serde_json::json!(["era A", "era B"])));
    assert_eq!(axis(2).1, &serde_json::json!(["32", "128", "1024"]));
    let choices = data["points"].as_array().unwrap();
    assert_eq!(choices.len(), 12);
    assert_eq!(choices[8]["at"], serde_json::json!([1, 0, 2]));
    assert_eq!(choices[0]["figures"][0]["shares"][0], serde_json::json!([0.8, "80 %"]));
    // Of several configurations the heat map shows the first.
    let marked = |index: usize| !choices[index]["marks"].as_array().unwrap().is_empty();
    assert!((0..6).all(marked));
}

#[test]
fn a_script_in_a_name_stays_data_in_the_panel() {
    let evil = "</script><script>alert(1)</script><!--\u{2028}&amp;";
    let page = page(swept(evil));
    assert!(!page.contains("<script>alert"));
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
    let name = data(&page)["points"][0]["name"].as_str().unwrap().to_owned();
    assert!(name.starts_with(evil), "{name}");
}

#[test]
fn without_a_script_the_table_of_the_sweep_stands_for_the_panel() {
    let page = page(swept("era A"));
    let section = page.split("<section id=\"what-if\">").nth(1).unwrap();
    let section = section.split("</section>").next().unwrap();
    assert!(section.contains("<div class=\"panel\" hidden></div>"));
    assert_eq!(section.matches("<td>1024</td>").count(), 2);
    assert!(!report(&["a", "b"]).contains("id=\"what-if\""));
}

#[test]
fn nothing_is_fetched() {
    let page = report(&["pop 1024", "pop 128"]);
    for link in ["src=", "href=", "@import", "url("] {
        assert!(!page.contains(link), "{link}");
    }
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http://") && !outside.contains("https://"));
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn the_answer_is_in_figures_with_intervals() {
    let page = report(&["pop 1024", "pop 128"]);
    let answer = page.split("class=\"answer\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(answer.contains("With “pop 128” the mean packet loss duration is 1.9"), "{answer}");
    assert!(
        answer.contains("7.0 times shorter") || answer.contains("7.00 times shorter"),
        "{answer}"
    );
    let part = "80 % of the packet loss duration with “pop 1024” is notification queue.";
    assert!(answer.contains(part), "{answer}");
    assert!(answer.contains("expectations hold"), "{answer}");
}

#[test]
fn the_command_has_every_argument_that_changes_the_result() {
    let manifest = serde_json::json!({
        "file": "my file.json",
        "arguments": {
            "set": ["a.b=1", "run.replications=50", "run.seed=3"], "vary": ["a.c=1,2"],
            "design": ["sobol:64"], "where": ["a.b * a.c <= 64"], "configuration": ["it's"]
        },
        "run": { "replications": 50 }
    });
    let expected = "convsim run 'my file.json' --set a.b=1 --replications 50 --set run.seed=3 \
                    --vary a.c=1,2 --design sobol:64 --where 'a.b * a.c <= 64' \
                    --configuration 'it'\\''s'";
    assert_eq!(super::command(&manifest), expected);
}

#[test]
fn the_same_results_give_the_same_page() {
    assert_eq!(report(&["a", "b"]), report(&["a", "b"]));
}

#[test]
fn what_each_configuration_changes_stands_in_a_table() {
    let mut stored = stored(vec![point(1, "pop 1024", &[]), point(2, "pop <128>", &[])], 12);
    stored.manifest["resolved"] = serde_json::json!({
        "components": { "orchagent": { "model": "orchagent", "deduplicate_notifications": true } },
        "configurations": [
            { "name": "pop 1024", "set": { "orchagent.pop_batch_size": 1024 } },
            { "name": "pop <128>", "set": {
                "orchagent.pop_batch_size": 128, "orchagent.deduplicate_notifications": false } },
            { "name": "not run", "set": { "orchagent.mode": "async" } }
        ]
    });
    let page = html(&stored, &[]).unwrap();
    let section = page.split("<h2>What the configurations change</h2>").nth(1).unwrap();
    let section = section.split("</section>").next().unwrap();
    let row = |path: &str, cells: [&str; 3]| {
        let cells = cells.map(|cell| format!("<td><code>{cell}</code></td>")).concat();
        format!("<tr><td><code>{path}</code></td>{cells}</tr>")
    };
    for row in [
        row("orchagent.pop_batch_size", ["1024", "1024", "128"]),
        row("orchagent.deduplicate_notifications", ["true", "", "false"]),
    ] {
        assert!(section.contains(&row), "{row}: {section}");
    }
    assert!(section.contains("<th>pop &lt;128&gt;</th>") && !section.contains("not run"));
}

#[test]
fn what_the_scenario_sets_is_not_pinned_down_by_a_source() {
    let mut stored = stored(vec![point(1, "base", &[])], 12);
    stored.manifest["resolved"] = serde_json::json!({
        "components": { "orchagent": { "model": "orchagent", "pop_batch_size": 77 } }
    });
    let page = html(&stored, &[]).unwrap();
    let group = page.split("<summary>Not pinned down by any source").nth(1).unwrap();
    let group = group.split("</details>").next().unwrap();
    let first = group.split("<tbody>").nth(1).unwrap().split("</tr>").next().unwrap();
    for part in ["orchagent.pop_batch_size", "77", "set by the scenario"] {
        assert!(first.contains(part), "{part}: {first}");
    }
}

#[test]
fn a_metric_that_is_always_zero_is_named_in_a_line() {
    let mut stored = stored(vec![point(1, "a", &[]), point(2, "b", &[])], 12);
    for values in stored.values.iter_mut().filter_map(|all| all.get_mut("loop_iterations")) {
        values.fill(0.0);
    }
    let page = html(&stored, &plots(&stored, None, None)).unwrap();
    assert!(page.contains("0 in every replication, and so without a picture: loop iterations."));
}
