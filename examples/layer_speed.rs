//! What the experiment layer costs beside the simulation: processor time, memory, two threads.
//!
//! ```sh
//! cargo run --release --example layer_speed            # everything, some minutes
//! cargo run --release --example layer_speed -- rows    # or sweep, layer, threads, plan
//! ```
//!
//! Each figure is of a process of its own, the command line in it, and mostly in processor time (user
//! and system), which a busy host disturbs less than the clock. "Simulation" is the same replications
//! by the workers alone, one after the other, whose rows nobody keeps. Needs Linux's `/proc`.

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use convsim::experiment::worker::{Worker, WorldWorker};
use convsim::scenario::{LoadOptions, load};

const HEADLINE: &str = "scenarios/chassis-packet-pop-batch.json";
/// A replication of some microseconds: a million of them are rows more than anything else.
const SHORT: [&str; 10] = [
    "--set",
    "orchagent.topology.routes=1000",
    "--set",
    "orchagent.flap.count=1",
    "--configuration",
    "pop 1024",
    "--vary",
    "orchagent.pop_batch_size=101..200",
    "--replications",
    "10000",
];
const SWEEP: [&str; 6] = [
    "--configuration",
    "pop 1024",
    "--vary",
    "orchagent.pop_batch_size=17..1015",
    "--replications",
    "100",
];
/// About a millisecond a replication.
const MILLISECOND: [&str; 6] = [
    "--configuration",
    "pop 1024",
    "--vary",
    "orchagent.pop_batch_size=16,17,18,19",
    "--replications",
    "2000",
];
const PLAN: [&str; 2] = ["--vary", "orchagent.pop_batch_size=1..99990"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["child", "simulate", ref words @ ..] => measured(|| simulate(words)),
        ["child", ref words @ ..] => measured(|| {
            let words = ["convsim"].iter().chain(words).map(OsString::from);
            match convsim::execute(words) {
                ended if ended.code == 0 => Ok(()),
                ended => Err(ended.errors.into()),
            }
        }),
        _ => print_all(arguments.first().map_or("", String::as_str)),
    }
}

fn print_all(only: &str) -> Result<(), Box<dyn Error>> {
    let wanted = |name: &str| only.is_empty() || only == name;
    println!("load average: {}", fs::read_to_string("/proc/loadavg")?.trim());
    if wanted("rows") {
        let model = simulated(&SHORT)?;
        let run = run(&SHORT, 2, true)?;
        println!("a million rows: {run}");
        println!("  simulation alone: {model}");
        println!("  overhead: {:.2} s of processor time", run.processor - model.processor);
    }
    if wanted("sweep") {
        let run = run(&SWEEP, 2, true)?;
        println!("1,000 points x 100 replications of the headline scenario: {run}");
        println!("  on two idle cores at best {:.1} s", run.processor / 2.0);
        let all = run_with_pictures(&SWEEP)?;
        println!("  with pictures and report: {all}");
    }
    if wanted("layer") {
        let model = simulated(&MILLISECOND)?;
        let run = run(&MILLISECOND, 1, true)?;
        println!("8,000 replications: {run}");
        println!("  simulation alone: {model}, {:.2} ms each", model.processor / 8.0);
        println!("  overhead: {:.1} %", (run.processor / model.processor - 1.0) * 100.0);
    }
    if wanted("threads") {
        let [one, two] = [run(&SWEEP, 1, true)?, run(&SWEEP, 2, true)?];
        println!("one thread: {one}\ntwo threads: {two}");
        println!("  by the clock {:.2} times faster", one.clock / two.clock);
        println!("  by processor time at most {:.2} times", 2.0 * one.processor / two.processor);
    }
    if wanted("plan") {
        let words = [&["plan", HEADLINE][..], &PLAN, &["--format", "csv"]].concat();
        println!("plan of 100,000 points: {}", child(&words)?);
    }
    Ok(())
}

/// What a process took.
struct Taken {
    processor: f64,
    clock: f64,
    memory: f64,
}

impl std::fmt::Display for Taken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { processor, clock, memory } = self;
        write!(
            formatter,
            "{processor:.2} s of processor time, {clock:.2} s by the clock, {memory:.0} MB at most"
        )
    }
}

fn run(words: &[&str], threads: usize, without_pictures: bool) -> Result<Taken, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let output = folder.path().to_string_lossy();
    let threads = threads.to_string();
    let rest = ["--quiet", "--output", &output, "--threads", &threads];
    let pictures: &[&str] = if without_pictures { &["--no-plots"] } else { &[] };
    child(&[&["run", HEADLINE][..], words, &rest, pictures].concat())
}

fn run_with_pictures(words: &[&str]) -> Result<Taken, Box<dyn Error>> {
    run(words, 2, false)
}

fn simulated(words: &[&str]) -> Result<Taken, Box<dyn Error>> {
    child(&[&["simulate"][..], words].concat())
}

/// Does it in a process of its own.
fn child(words: &[&str]) -> Result<Taken, Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?).arg("child").args(words).output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    let line = told.lines().rfind(|line| line.starts_with("taken "));
    let numbers: Vec<f64> = line
        .ok_or_else(|| told.clone().into_owned())?
        .split(' ')
        .skip(1)
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    let &[processor, clock, memory] = &numbers[..] else { return Err(told.into()) };
    Ok(Taken { processor, clock, memory })
}

/// Tells on stderr what `body` took.
fn measured(body: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    body()?;
    let clock = start.elapsed().as_secs_f64();
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name of the program, which may have blanks, is in brackets.
    let after = stat.rsplit(')').next().unwrap_or_default();
    let ticks = |field: usize| after.split_whitespace().nth(field - 3).map(str::parse::<f64>);
    let (Some(user), Some(system)) = (ticks(14), ticks(15)) else { return Err(stat.into()) };
    // A tick is 10 ms on every Linux that Rust runs on.
    let processor = (user? + system?) / 100.0;
    let status = fs::read_to_string("/proc/self/status")?;
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let most = most.and_then(|line| line.split_whitespace().next()).ok_or("no VmHWM")?;
    let memory = most.parse::<f64>()? / 1024.0;
    eprintln!("taken {processor} {clock} {memory}");
    Ok(())
}

/// All replications on this thread.
fn simulate(words: &[&str]) -> Result<(), Box<dyn Error>> {
    let mut options = LoadOptions::default();
    for pair in words.chunks(2) {
        let &[option, value] = pair else { return Err("options come with values".into()) };
        let value = value.to_owned();
        match option {
            "--set" => options.set.push(value),
            "--vary" => options.vary.push(value),
            "--configuration" => options.configurations.push(value),
            "--replications" => options.set.push(format!("run.replications={value}")),
            _ => return Err(format!("{option} is not known here").into()),
        }
    }
    let scenario = load(Path::new(HEADLINE), &options)?;
    let mut worker = WorldWorker::new(&scenario);
    let mut events = 0;
    for point in 0..scenario.points.len() {
        for replication in 0..scenario.run.replications {
            events += worker.replicate(point, replication).events;
        }
    }
    assert!(events > 0, "something happened");
    Ok(())
}
