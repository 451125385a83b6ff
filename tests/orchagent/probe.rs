use crate::support::run;
use serde_json::json;
#[test]
fn probe() {
    let fast = json!({"pop_per_key":"0 s","publish_per_route":"0 s"});
    for (name, config) in [
        ("1024 b2", json!({})),
        ("128 b2", json!({"pop_batch_size":128})),
        ("1024 b0.683 m1", json!({"costs":fast})),
        ("128 b0.683 m1", json!({"pop_batch_size":128,"costs":fast})),
        ("1024 b0.683 m3", json!({"flap":{"messages":3},"costs":fast})),
        ("128 b0.683 m3", json!({"pop_batch_size":128,"flap":{"messages":3},"costs":fast})),
        ("1024 B2", json!({"era":"b2"})),
        ("1024 rehash", json!({"topology":{"rehash":"all_members"}})),
        ("1024 driver", json!({"topology":{"carrier_source":"driver"}})),
        ("1024 routed", json!({"topology":{"link":"routed_port"}})),
        ("1024 honoured", json!({"priority_mode":"honoured"})),
        ("1024 async", json!({"mode":"async"})),
        ("1024 ring", json!({"ring":{"enabled":true}})),
        ("1024 Z1", json!({"era":"z1"})),
        ("1024 Z2", json!({"era":"z2"})),
        ("1024 A", json!({"era":"a"})),
        ("1024 16of16 B1", json!({"flap":{"count":16}})),
        ("1024 16of16 B2", json!({"era":"b2","flap":{"count":16}})),
        ("1024 down up", json!({"flap":{"return_after":"5 s","repeat":3,"period":"20 s"}})),
        ("1024 up", json!({"flap":{"direction":"up"}})),
        ("1024 2 members 1 flap", json!({"flap":{"members":1},"topology":{"members":2}})),
        (
            "load 128",
            json!({"pop_batch_size":128,"flap":{"count":0},"topology":{"initial_backlog":60000}}),
        ),
    ] {
        let t = std::time::Instant::now();
        let runs = run(config, 50);
        print!("{name}: {:?}/rep", t.elapsed() / 50);
        for (i, m) in convsim::models::ModelKind::Orchagent.metrics().iter().enumerate() {
            let v: f64 = runs.figures.iter().map(|r| r[i]).sum::<f64>() / runs.figures.len() as f64;
            if v != 0.0 && !v.is_nan() {
                print!(" {}={:.2}", m.name.replace("packet_loss_duration", "pld"), v);
            }
        }
        println!(" conv={}\n", runs.converged.iter().filter(|c| **c).count());
    }
}
