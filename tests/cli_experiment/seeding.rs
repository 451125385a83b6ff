//! Which replications share random numbers: common and independent seeding, antithetic pairs.

use std::fs;

use serde_json::Value;

use super::*;

/// One worker with exponential gaps and services, 70 % busy: an M/M/1 queue. The two configurations
/// behave alike.
const QUEUE: &str = r#"{
  "name": "queue",
  "components": { "web": {
    "model": "http_pool",
    "clients": { "arrival": "open", "rate": "70/s", "requests": 1000 },
    "network": { "somaxconn": 100000 },
    "server": { "preset": "gunicorn_sync", "workers": 1, "backlog": 100000, "overhead": "none",
                "worker_timeout": "0 s" },
    "handler": { "wait": { "distribution": "exponential", "mean": "10 ms" } }
  } },
  "configurations": [
    { "name": "one" },
    { "name": "other", "set": { "web.server.backlog": 99999 } }
  ],
  "run": { "seed": 11, "replications": 200, "metrics": ["latency.mean"] }
}"#;

fn place() -> Place {
    let place = Place::empty();
    place.write("queue.json", QUEUE);
    place
}

fn run(place: &Place, arguments: &[&str]) -> String {
    let fixed = ["run", "queue.json", "--no-plots"];
    let output = place.convsim(&[&fixed[..], arguments].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn summary(place: &Place, folder: &str) -> Value {
    serde_json::from_str(&place.read(&format!("{folder}/queue/summary.json"))).unwrap()
}

fn mean(summary: &Value, point: usize) -> [f64; 3] {
    let mean = &summary["points"][point]["metrics"]["latency.mean"]["mean"];
    ["value", "low", "high"].map(|key| mean[key].as_f64().unwrap())
}

#[test]
fn antithetic_pairs_know_the_mean_of_a_queue_better_and_agree_on_it() {
    let place = place();
    run(&place, &["--output", "plain"]);
    let text = run(&place, &["--antithetic", "--output", "pairs"]);
    let (plain, pairs) = (summary(&place, "plain"), summary(&place, "pairs"));
    for point in 0..2 {
        let gain = pairs["points"][point]["metrics"]["latency.mean"]["variance_gain"].as_f64();
        assert!(gain.unwrap() > 1.3, "{gain:?}");
        let ([one, low, high], [other, lower, higher]) = (mean(&plain, point), mean(&pairs, point));
        assert!(low.max(lower) < high.min(higher), "{one} and {other}");
        assert!(higher - lower < high - low, "{lower} to {higher}, {low} to {high}");
    }
    assert!(
        text.contains("antithetic pairs: the variance of the mean latency.mean is that"),
        "{text}"
    );
    assert!(plain["points"][0]["metrics"]["latency.mean"].get("variance_gain").is_none());
    // Not only by the program's own reckoning: the means of two replications vary less when they
    // are antithetic than when they are not.
    let variance = |folder: &str| {
        let mut reader =
            csv::Reader::from_path(place.path(folder).join("queue/results.csv")).unwrap();
        let heading = reader.headers().unwrap().clone();
        let column = heading.iter().position(|name| name == "latency.mean").unwrap();
        let values: Vec<f64> =
            reader.records().take(200).map(|row| row.unwrap()[column].parse().unwrap()).collect();
        let twos: Vec<f64> = values.chunks(2).map(|two| (two[0] + two[1]) / 2.0).collect();
        let centre = twos.iter().sum::<f64>() / twos.len() as f64;
        twos.iter().map(|two| (two - centre).powi(2)).sum::<f64>() / (twos.len() - 1) as f64
    };
    assert!(variance("pairs") < variance("plain") / 1.2);
}

#[test]
fn the_first_of_a_pair_is_the_replication_without_pairs() {
    let place = place();
    run(&place, &["--replications", "6", "--output", "plain"]);
    run(&place, &["--replications", "6", "--antithetic", "--output", "pairs"]);
    let rows = |folder: &str| -> Vec<String> {
        let text = place.read(&format!("{folder}/queue/results.csv"));
        text.lines().skip(1).map(str::to_owned).collect()
    };
    let (plain, pairs) = (rows("plain"), rows("pairs"));
    for (index, (one, other)) in plain.iter().zip(&pairs).enumerate() {
        assert_eq!(one == other, index % 2 == 0, "row {index}");
    }
}

/// The second of a pair is the first's complement, in every model.
#[test]
fn no_pair_is_a_replication_twice() {
    for (file, configuration) in [
        ("chassis-packet-pop-batch", "pop 128"),
        ("l3-agent-vm-boot", ""),
        ("ipvs-kube-proxy-scale", ""),
        ("http-proxy", ""),
    ] {
        let place = Place::empty();
        let path = format!("{}/scenarios/{file}.json", env!("CARGO_MANIFEST_DIR"));
        let mut words = vec!["run", &path, "--no-plots", "--replications", "4", "--antithetic"];
        if !configuration.is_empty() {
            words.extend(["--configuration", configuration]);
        }
        let output =
            place.convsim(&[&words[..], &["--output", "pairs", "--format", "json"]].concat());
        assert!(code(&output) < 2, "{file}: {}", stderr(&output));
        let text = place.read(&format!("pairs/{file}/results.csv"));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let heading = reader.headers().unwrap().clone();
        let at = |name: &str| heading.iter().position(|column| column == name).unwrap();
        let (replication, fingerprint) = (at("replication"), at("fingerprint"));
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        for pair in rows.chunks(2).filter(|pair| pair[1][replication] == *"1") {
            assert_ne!(pair[0][fingerprint], pair[1][fingerprint], "{file}: {:?}", pair[0]);
        }
    }
}

#[test]
fn points_share_their_streams_unless_they_are_independent() {
    let place = place();
    let figures = |folder: &str, point: usize| -> Vec<String> {
        let text = place.read(&format!("{folder}/queue/results.csv"));
        let rows = text.lines().skip(1 + point * 20).take(20);
        rows.map(|row| row.split(',').skip(7).collect::<Vec<_>>().join(",")).collect()
    };
    run(&place, &["--replications", "20", "--output", "common"]);
    assert_eq!(figures("common", 0), figures("common", 1));
    run(&place, &["--replications", "20", "--seeding", "independent", "--output", "alone"]);
    let (one, other) = (figures("alone", 0), figures("alone", 1));
    assert!(one.iter().all(|row| !other.contains(row)));
    // Neither is a continuation of the other.
    let refused =
        place.convsim(&["run", "queue.json", "--output", "alone", "--replications", "20"]);
    assert_eq!(code(&refused), 2);
    assert!(stderr(&refused).contains("seed scheme"), "{}", stderr(&refused));
}

#[test]
fn pairs_in_parts_or_interrupted_end_with_the_same_bytes() {
    let place = place();
    let until = ["--antithetic", "--replications", "10..200", "--until", "latency.mean<=8%"];
    run(&place, &[&until[..], &["--output", "whole", "--threads", "1"]].concat());
    let replications: Vec<u64> = summary(&place, "whole")["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point["replications"].as_u64().unwrap())
        .collect();
    assert!(replications.iter().all(|count| count % 2 == 0 && *count > 10), "{replications:?}");
    run(&place, &["--antithetic", "--replications", "14", "--output", "grown"]);
    run(&place, &[&until[..], &["--output", "grown", "--threads", "2"]].concat());
    for part in ["1/3", "2/3", "3/3"] {
        run(&place, &[&until[..], &["--shard", part, "--output", "parts"]].concat());
    }
    let merge = ["merge", "parts/queue", "--output", "parts", "--no-plots"];
    assert_eq!(code(&place.convsim(&merge)), 0);
    for name in ["results.csv", "results.parquet", "summary.csv", "summary.json", "manifest.json"] {
        let of = |folder: &str| fs::read(place.path(folder).join("queue").join(name)).unwrap();
        assert!(of("whole") == of("grown"), "{name}");
        assert!(of("whole") == of("parts"), "{name}");
    }
}

#[test]
fn an_odd_number_of_antithetic_replications_is_refused() {
    let place = place();
    let odd = |replications: &str, until: &[&str]| {
        let own = ["run", "queue.json", "--antithetic", "--replications", replications];
        let output = place.convsim(&[&own[..], until].concat());
        assert_eq!(code(&output), 2);
        stderr(&output)
    };
    assert!(odd("25", &[]).contains("an even number"));
    assert!(odd("10..25", &["--until", "latency.mean<=2%"]).contains("an even number"));
}
