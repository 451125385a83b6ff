//! The texts that users read, on made-up figures.

use super::junit::{Suite, junit};
use super::*;
use crate::engine::{SimDuration, SimTime};
use crate::experiment::bounds::KnownValues;
use crate::experiment::comparison::{Pairing, Sides, compare};
use crate::experiment::{KeptValues, Row, RowSink, Status, Summariser, judge};
use crate::models::{Metric, ModelKind, Unit};
use crate::scenario::{Expectation, RelativeTo, RunSettings, Seeding, Statistic};

const METRICS: [Metric; 6] = [
    Metric::headline(
        "packet_loss_duration",
        Unit::Seconds,
        "Traffic-weighted mean outage over the paths.",
    ),
    Metric::part(
        "packet_loss_duration.notification_queue",
        "packet_loss_duration",
        Unit::Seconds,
        "",
    ),
    Metric::part("packet_loss_duration.residual_batch", "packet_loss_duration", Unit::Seconds, ""),
    Metric::headline("notification_wait", Unit::Seconds, "Longest wait of a notification."),
    Metric::headline("loop_iterations", Unit::Count, "Iterations of the main loop."),
    Metric::detail("route_rate", Unit::PerSecond, "Routes programmed in a second."),
];

fn columns() -> Vec<MetricColumn> {
    let column = |metric: &Metric| MetricColumn {
        name: metric.name.to_owned(),
        component: 0,
        metric: *metric,
        whole: metric.part_of.map(|_| 0),
    };
    METRICS.iter().map(column).collect()
}

pub(super) fn point(id: u64, configuration: &str, axes: &[(&str, u64)]) -> Point {
    Point {
        id,
        configuration: configuration.to_owned(),
        note: (id == 2).then(|| "What the vendor ships since the pull request.".to_owned()),
        axes: axes.iter().map(|&(path, value)| (path.to_owned(), value.into())).collect(),
        components: Vec::new(),
    }
}

fn scenario(points: Vec<Point>) -> Scenario {
    Scenario {
        name: "chassis".to_owned(),
        description: "Uplink port-channel flaps while 60K routes reprogram".to_owned(),
        sources: vec!["PR 21771".to_owned()],
        path: "scenarios/chassis.json".into(),
        files: Vec::new(),
        components: vec![("orchagent".to_owned(), ModelKind::ALL[0])],
        connections: Vec::new(),
        points,
        cut_points: 0,
        coincident_points: 0,
        run: RunSettings {
            seed: 1,
            replications: 40,
            seeding: Seeding::Common,
            antithetic: false,
            precision: None,
            horizon: SimDuration::from_whole_seconds(300),
            event_budget: 1_000,
            confidence: 0.95,
            metrics: Vec::new(),
        },
        expectations: Vec::new(),
        solve: None,
        sensitivity: None,
        recorded: Vec::new(),
        warnings: vec!["pop 8192: orchagent.pop_batch_size blocks Redis for 5 s".to_owned()],
        resolved: serde_json::json!({ "name": "chassis" }),
    }
}

/// Made-up rows: the figures of each point spread evenly; the last point fails here and there.
fn rows(points: usize, replications: u64) -> Vec<Row> {
    let row = |point: usize, replication: u64| {
        let spread = replication as f64 / replications as f64;
        let whole = (13.4 + spread) / (1 + 6 * point) as f64;
        let last = point > 0 && point + 1 == points;
        let status = match replication {
            7 if last => Status::Horizon,
            9 if last => Status::Failed,
            _ => Status::Converged,
        };
        let mut figures =
            vec![whole, whole * 0.8, whole * 0.2, whole / 1e3, (100 * (point + 1)) as f64, 4e3];
        if status != Status::Converged {
            figures.fill(f64::NAN);
        }
        Row {
            point,
            replication,
            status,
            end: SimTime::from_nanos(1_500_000_000 + replication),
            events: 100 + replication,
            fingerprint: 0xabcd_0000 + replication,
            figures,
            message: (status == Status::Failed).then(|| "index out of bounds, \"x\"".to_owned()),
        }
    };
    (0..points).flat_map(|point| (0..replications).map(move |r| row(point, r))).collect()
}

fn expectations() -> Vec<Expectation> {
    let expect = |configuration: &str, statistic, relative_to, at_least, at_most| Expectation {
        configuration: configuration.to_owned(),
        metric: "packet_loss_duration".to_owned(),
        statistic,
        relative_to,
        at_least,
        at_most,
        measured: at_least.zip(at_most),
        source: "sonic-buildimage PR 21771".to_owned(),
        origin: "chassis.json:31".to_owned(),
    };
    let ratio = Some(RelativeTo::Ratio("pop 128".to_owned()));
    let less = Some(RelativeTo::Difference("pop 128".to_owned()));
    vec![
        expect("pop 1024", Statistic::Mean, None, Some(12.0), Some(15.0)),
        expect("pop 1024", Statistic::P99, None, None, Some(14.6)),
        expect("pop 1024", Statistic::Mean, ratio, Some(8.0), Some(10.0)),
        expect("pop 1024", Statistic::P50, less, Some(10.0), None),
        expect("pop 128", Statistic::NotConverged, None, None, Some(0.5)),
        expect("pop 64", Statistic::Max, None, None, Some(1.0)),
    ]
}

/// A new version changes no snapshot.
fn without_version(document: &serde_json::Value) -> String {
    format!("{document:#}").replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

fn with_report<T>(points: Vec<Point>, replications: u64, use_it: impl Fn(Report<'_>) -> T) -> T {
    let columns = columns();
    let mut scenario = scenario(points);
    scenario.run.replications = replications;
    scenario.expectations = expectations();
    let mut summariser = Summariser::new(0.95);
    let mut kept = KeptValues::for_expectations(&scenario, &columns);
    for row in rows(scenario.points.len(), replications) {
        summariser.row(&row).unwrap();
        kept.row(&row).unwrap();
    }
    let summaries = summariser.finish();
    let judgements = judge(&scenario, &columns, &kept);
    let (scenario, columns) = (&scenario, &columns[..]);
    use_it(Report { scenario, columns, summaries: &summaries, judgements: &judgements })
}

/// The files of a run, read back.
pub(super) fn stored(points: Vec<Point>, replications: u64) -> stored::Stored {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).unwrap();
    with_report(points, replications, |report| {
        let mut csv =
            results_csv::ResultsCsv::new(report.scenario, report.columns, &[], Vec::new()).unwrap();
        for row in rows(report.scenario.points.len(), replications) {
            csv.row(&row).unwrap();
        }
        write("results.csv", &csv.finish().unwrap());
        write("summary.json", summary_json::summary_json(report).to_string().as_bytes());
        let manifest = manifest::manifest(report.scenario, serde_json::Map::new());
        write("manifest.json", manifest.to_string().as_bytes());
    });
    stored::Stored::read(folder.path()).unwrap()
}

fn two_points() -> Vec<Point> {
    vec![point(1, "pop 1024", &[]), point(2, "pop 128", &[])]
}

#[test]
fn the_report_on_the_terminal() {
    let text = with_report(two_points(), 40, terminal::terminal);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn an_interval_too_wide_for_its_column_breaks_between_its_ends() {
    let interval = crate::statistics::Interval { low: 0.020336, high: 0.020502 };
    let estimate = crate::statistics::Estimate::new(0.020419, interval);
    let cell = table::stacked(number::Scale::PLAIN, estimate, 14);
    assert_eq!(cell, "0.020419\n0.020336..\n0.020502");
}

#[test]
fn many_points_of_a_sweep_have_one_line_each() {
    let points = (0..8)
        .map(|i: u64| {
            let size = 32 << i;
            point(
                10 + i,
                &format!("orchagent.pop_batch_size={size}"),
                &[("orchagent.pop_batch_size", size), ("orchagent.links", i)],
            )
        })
        .collect();
    let text = with_report(points, 400, terminal::terminal);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_sweep_from_several_configurations_says_which() {
    let sweep = |id, name: &str, size: u64| {
        let configuration = format!("{name}, orchagent.pop_batch_size={size}");
        point(id, &configuration, &[("orchagent.pop_batch_size", size)])
    };
    let points = ["era A", "era B"]
        .into_iter()
        .flat_map(|name| [64, 128, 256].map(|size| sweep(3 + size, name, size)))
        .collect();
    insta::assert_snapshot!(with_report(points, 400, table::main_tables));
}

#[test]
fn every_expectation_with_what_became_of_it() {
    insta::assert_snapshot!(with_report(two_points(), 40, |report| {
        expectations::expectation_list(report, expectations::Detail::All)
    }));
}

#[test]
fn the_report_as_markdown() {
    insta::assert_snapshot!(with_report(two_points(), 40, markdown::markdown));
}

#[test]
fn the_summary_as_json() {
    let text =
        with_report(two_points(), 40, |report| format!("{:#}", summary_json::summary_json(report)));
    insta::assert_snapshot!(text);
}

#[test]
fn the_summary_as_csv() {
    let text = with_report(two_points(), 40, |report| {
        String::from_utf8(summary_csv::summary_csv(report).unwrap()).unwrap()
    });
    insta::assert_snapshot!(text);
}

#[test]
fn the_results_as_csv() {
    let columns = columns();
    let scenario = scenario(two_points());
    let mut csv = results_csv::ResultsCsv::new(&scenario, &columns, &[], Vec::new()).unwrap();
    for row in rows(2, 11).iter().skip(18) {
        csv.row(row).unwrap();
    }
    insta::assert_snapshot!(String::from_utf8(csv.finish().unwrap()).unwrap());
}

#[test]
fn the_manifest() {
    let scenario = scenario(two_points());
    let arguments = serde_json::Map::from_iter([("set".to_owned(), serde_json::json!(["a.b=1"]))]);
    insta::assert_snapshot!(without_version(&manifest::manifest(&scenario, arguments)));
}

#[test]
fn expectations_as_junit() {
    insta::assert_snapshot!(with_report(two_points(), 40, |report| {
        junit(&[Suite { report, failures: 0 }, Suite { report, failures: 3 }])
    }));
}

#[test]
fn a_comparison() {
    let columns = columns();
    let mut kept = KeptValues::of(&scenario(Vec::new()).run, &columns, &[0, 1], &[0, 3]);
    rows(2, 40).iter().for_each(|row| kept.row(row).unwrap());
    let known = [0, 3].map(|column| [0, 1].map(|point| kept.known(point, column)));
    let sides = [0, 3].map(|column| Sides {
        metric: &columns[column].name,
        unit: columns[column].metric.unit,
        first: &known[column / 3][0],
        second: &known[column / 3][1],
        groups: [1, 1],
    });
    let compared = compare(&sides, Pairing::Paired, 0.95);
    insta::assert_snapshot!(comparison::comparison_tables(&compared));
    insta::assert_snapshot!(comparison::comparison_markdown(&compared));
    // Without pairs the noise that both share does not cancel, of what was not cut off.
    let whole =
        known.each_ref().map(|sides| sides.each_ref().map(|v| KnownValues::exactly(&v.exact)));
    let width = |pairing| {
        let sides = Sides { first: &whole[0][0], second: &whole[0][1], ..sides[0] };
        compare(&[sides], pairing, 0.95)[0].difference.interval.half_width()
    };
    assert!(width(Pairing::Independent) > width(Pairing::Paired));
}

#[test]
fn no_metric_is_called_like_another_column_of_the_results() {
    for kind in ModelKind::ALL {
        for metric in kind.metrics() {
            let fixed = results_csv::FIRST_COLUMNS.contains(&metric.name)
                || results_csv::LAST_COLUMNS.contains(&metric.name)
                || metric.name == summary_csv::NOT_CONVERGED;
            assert!(!fixed, "{}: {}", kind.name(), metric.name);
        }
    }
}
