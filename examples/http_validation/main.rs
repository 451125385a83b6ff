//! Predicts measured cases of real HTTP servers, and prints measured, predicted and error.
//!
//! ```sh
//! cargo run --release --example http_validation > docs/http-validation.md
//! cargo run --release --example http_validation -- --scenario > scenarios/http-validation.json
//! cargo run --release --example http_validation -- other-measurements.json
//! ```

mod case;
mod judge;
mod reasons;
mod runs;
mod scenario;
mod table;

use case::Measurements;
use judge::judge;
use runs::Runs;

const MEASUREMENTS: &str = "scenarios/data/http_measurements.json";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (options, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let path = paths.first().map_or(MEASUREMENTS, String::as_str);
    let measurements: Measurements = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let mut judged = Vec::new();
    for case in &measurements.cases {
        if let Some(config) = case.config(measurements.cores) {
            let figures = judge(case, &Runs::predict(&config));
            judged.push((case, config, figures));
        }
    }
    if options.iter().any(|option| option == "--scenario") {
        println!("{}", scenario::write(&judged)?);
    } else {
        print!("{}", table::write(&judged));
    }
    Ok(())
}
