use crate::support::run;
use serde_json::json;
#[test]
fn probe() {
    for _ in 0..3 {
        for (name, config) in [
            ("1024 b2", json!({})),
            ("128 b2", json!({"pop_batch_size":128})),
            (
                "load 128",
                json!({"pop_batch_size":128,"flap":{"count":0},"topology":{"initial_backlog":60000}}),
            ),
        ] {
            let config = crate::support::config(config);
            let t = std::time::Instant::now();
            let runs = crate::support::run_config(&config, 400);
            println!("{name}: {:?}/rep {}", t.elapsed() / 400, runs.fingerprints[0]);
        }
    }
}
