//! What holds for every configuration.

use convsim::engine::{Engine, Limits, StreamSeed};
use convsim::models::{Connection, Model, ModelKind, Severity, World};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{config, run, run_config};

fn any_config() -> impl Strategy<Value = serde_json::Value> {
    let choice = |names: &'static [&'static str]| prop::sample::select(names);
    (
        (
            choice(&["a", "b1", "b2", "z1", "z2", "z3"]),
            choice(&["sync", "async", "zmq_sync"]),
            choice(&["lru", "honoured"]),
            any::<bool>(),
            1_u32..3000,
            1_u32..1500,
        ),
        (
            1_u32..20,
            0_u32..20,
            choice(&["port_channel", "routed_port"]),
            choice(&["orchagent", "driver"]),
            choice(&["surviving", "all_members"]),
            choice(&["down", "up"]),
        ),
        (1_u32..4, 1_u32..4, 0_u32..3000, any::<bool>(), 0_u32..4, choice(&["none", "return"])),
    )
        .prop_map(|(loop_, links, rest)| {
            let (era, mode, priority, ring, batch, chunk) = loop_;
            let (paths, flaps, link, carrier, rehash, direction) = links;
            let (messages, repeat, backlog, backup, remote, returns) = rest;
            let mut flap = json!({
                "count": flaps.min(paths), "messages": messages, "direction": direction,
                "interval": "100 ms"
            });
            if returns == "return" {
                flap["return_after"] = json!("3 s");
                flap["repeat"] = json!(repeat);
                flap["period"] = json!({ "distribution": "exponential", "mean": "8 s" });
            }
            json!({
                "era": era, "mode": mode, "priority_mode": priority, "pop_batch_size": batch,
                "bulk_chunk_size": chunk, "ring": { "enabled": ring },
                "topology": {
                    "paths": paths, "link": link, "carrier_source": carrier, "rehash": rehash,
                    "routes": 3000, "initial_backlog": backlog, "backup_route": backup
                },
                "bgp": { "remote_changes": remote },
                "flap": flap
            })
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_run_comes_to_rest_with_parts_that_sum_to_the_whole(json in any_config()) {
        let config = config(json);
        let runs = run_config(&config, 2);
        let again = run_config(&config, 2);
        prop_assert_eq!(&runs.fingerprints, &again.fingerprints);
        let metrics = ModelKind::Orchagent.metrics();
        for row in &runs.figures {
            let whole = metrics.iter().position(|m| m.name == "packet_loss_duration").expect("it");
            let parts: f64 = metrics
                .iter()
                .zip(row)
                .filter(|(metric, _)| metric.part_of == Some("packet_loss_duration"))
                .map(|(_, part)| *part)
                .sum();
            prop_assert!((row[whole] - parts).abs() <= 1e-9 * row[whole].max(1.0));
            for (metric, figure) in metrics.iter().zip(row) {
                prop_assert!(figure.is_nan() || *figure >= 0.0, "{} is {figure}", metric.name);
            }
        }
    }
}

#[test]
fn a_reused_component_repeats_a_fresh_one_exactly() {
    let config = config(json!({ "flap": { "count": 14 } }));
    let together = run_config(&config, 5);
    let mut engine = Engine::new(StreamSeed { master: 1, replication: 4 });
    let mut world = World::new(&[("orchagent".to_owned(), config)], Vec::new());
    engine.run(&mut world, Limits::default());
    assert_eq!(engine.fingerprint(), together.fingerprints[4]);
}

#[test]
fn two_batch_sizes_see_the_same_flaps() {
    let small = run(json!({ "pop_batch_size": 128 }), 20);
    let large = run(json!({ "pop_batch_size": 1024 }), 20);
    assert_eq!(small.all("flap_spread"), large.all("flap_spread"));
}

#[test]
fn a_signal_from_one_control_plane_flaps_a_link_of_another() {
    // The first heals a link of its own; the second has no plan and takes the signal as a link
    // that goes down.
    let first = config(json!({ "flap": { "count": 1, "latency": "1 s" } }));
    let second = config(json!({ "flap": { "count": 0 } }));
    let connection = Connection { sender: 0, output: 0, receiver: 1, input: 0 };
    let components = [("first".to_owned(), first), ("second".to_owned(), second)];
    let mut world = World::new(&components, vec![connection]);
    let mut engine = Engine::new(StreamSeed { master: 1, replication: 0 });
    engine.run(&mut world, Limits::default());
    let mut figures = Vec::new();
    world.measure(engine.now(), &mut figures);
    let metrics = ModelKind::Orchagent.metrics();
    let loss = metrics.iter().position(|m| m.name == "packet_loss_duration").expect("it");
    assert!(figures[loss] > 0.0);
    assert!(figures[metrics.len() + loss] > 0.0);
    assert!(world.converged());
}

#[test]
fn impossible_relations_between_settings_are_found() {
    let cases = [
        (json!({ "flap": { "count": 17 } }), "flap.count"),
        (
            json!({ "topology": { "routes": 10, "initial_backlog": 11 } }),
            "topology.initial_backlog",
        ),
        (json!({ "topology": { "link": "routed_port", "members": 2 } }), "topology.members"),
        (json!({ "flap": { "members": 2 } }), "flap.members"),
        (json!({ "flap": { "repeat": 2 } }), "flap.repeat"),
        (json!({ "bgp": { "remote_changes": 60_000 } }), "flap.repeat"),
        (json!({ "flap": { "count": 16, "messages": 40_000 } }), "flap.messages"),
    ];
    for (json, path) in cases {
        let config = serde_json::from_value(json).expect("well-formed");
        let findings = convsim::models::orchagent::Orchagent::check(&config);
        let errors: Vec<_> = findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .map(|finding| finding.path.as_str())
            .collect();
        assert_eq!(errors, [path]);
    }
}

#[test]
fn hopeless_but_legal_settings_are_warned_of() {
    let json = json!({ "flap": { "count": 16 }, "topology": { "backup_route": false } });
    let config = serde_json::from_value(json).expect("well-formed");
    let findings = convsim::models::orchagent::Orchagent::check(&config);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].severity, Severity::Warning);
}
