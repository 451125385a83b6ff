//! Processor sharing against a simulation that rescans all jobs.

use convsim::engine::{SimDuration, SimTime};
use convsim::resources::{ProcessorSharingCpu, Weight};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const NICE: [i8; 3] = [0, 5, -10];
const WEIGHT: [f64; 3] = [1024.0, 335.0, 9548.0];

/// A job comes `gap` after the one before; perhaps it is killed some time later.
#[derive(Clone, Debug)]
struct Arrival {
    gap: u64,
    work: u64,
    class: usize,
    kill_after: Option<u64>,
}

/// (job, when, what it still needed) for each that left, in order.
type Departures = Vec<(u32, f64, f64)>;

fn arrivals(classes: usize) -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![Just(0_u64), 1..100_u64, 1..1_000_000_u64];
    let work = prop_oneof![Just(0_u64), 1..100_u64, 1..5_000_000_u64];
    let patience = 1..10_000_000_u64;
    let arrival = (gap, work, 0..classes, prop::option::weighted(0.3, patience))
        .prop_map(|(gap, work, class, kill_after)| Arrival { gap, work, class, kill_after });
    prop::collection::vec(arrival, 1..60)
}

/// Arrivals and kills as (time, job, is a kill), by time.
fn timetable(arrivals: &[Arrival]) -> Vec<(u64, u32, bool)> {
    let mut now = 0;
    let mut events = Vec::new();
    for (arrival, job) in arrivals.iter().zip(0..) {
        now += arrival.gap;
        events.push((now, job, false));
        events.extend(arrival.kill_after.map(|after| (now + after, job, true)));
    }
    events.sort_by_key(|&(time, job, kill)| (time, kill, job));
    events
}

struct Run {
    departures: Departures,
    /// What all jobs got together, and core time used, in nanoseconds.
    done: f64,
    busy: f64,
}

fn simulate(cores: u32, arrivals: &[Arrival]) -> Run {
    let mut cpu = ProcessorSharingCpu::new(cores);
    let (mut departures, mut done) = (Vec::new(), 0.0);
    let mut events = timetable(arrivals).into_iter().peekable();
    let mut now = SimTime::ZERO;
    loop {
        let next = events.peek().map(|event| SimTime::from_nanos(event.0));
        let completion = cpu.next_completion();
        let Some(time) = [next, completion].into_iter().flatten().min() else { break };
        assert!(time >= now);
        now = time;
        if completion == Some(now) {
            let mut any = false;
            while let Some(finished) = cpu.complete(now) {
                any = true;
                assert!(finished.elapsed >= finished.work);
                departures.push((finished.job, now.as_nanos() as f64, 0.0));
                done += finished.work.as_nanos() as f64;
            }
            assert!(any, "a job is done when it was said to be");
            continue;
        }
        let Some((_, job, kill)) = events.next() else { break };
        let arrival = &arrivals[job as usize];
        if !kill {
            let weight = Weight::of_nice(NICE[arrival.class]);
            cpu.add_weighted(now, job, SimDuration::from_nanos(arrival.work), weight);
        } else if let Some(removal) = cpu.remove(now, job) {
            assert!(removal.elapsed >= removal.done);
            departures.push((job, now.as_nanos() as f64, removal.remaining.as_nanos() as f64));
            done += removal.done.as_nanos() as f64;
        }
    }
    assert_eq!(cpu.runnable(), 0);
    Run { departures, done, busy: cpu.busy_seconds(now) * 1e9 }
}

/// The rate of each job: what is left after the capped ones is shared by weight, until no share
/// exceeds one core.
fn rates(cores: u32, weights: &[f64]) -> Vec<f64> {
    let mut capped = vec![false; weights.len()];
    loop {
        let count = capped.iter().filter(|is| **is).count();
        let rest: f64 =
            weights.iter().zip(&capped).filter(|(_, is)| !**is).map(|(weight, _)| weight).sum();
        let unit = (f64::from(cores) - count as f64) / rest;
        let over = (0..weights.len()).find(|&job| !capped[job] && weights[job] * unit > 1.0);
        match over {
            Some(job) => capped[job] = true,
            None => {
                let rate =
                    |(weight, capped): (&f64, &bool)| if *capped { 1.0 } else { weight * unit };
                return weights.iter().zip(&capped).map(rate).collect();
            }
        }
    }
}

fn rescan(cores: u32, arrivals: &[Arrival]) -> Departures {
    let mut running: Vec<(u32, f64)> = Vec::new();
    let mut departures = Vec::new();
    let mut events = timetable(arrivals).into_iter().peekable();
    let mut now = 0.0;
    loop {
        let weights: Vec<f64> =
            running.iter().map(|(job, _)| WEIGHT[arrivals[*job as usize].class]).collect();
        let rates = rates(cores, &weights);
        let until_done = running.iter().zip(&rates).map(|((_, left), rate)| left / rate);
        let completion = now + until_done.fold(f64::INFINITY, f64::min);
        let next = events.peek().map_or(f64::INFINITY, |event| event.0 as f64);
        let time = completion.min(next);
        if time.is_infinite() {
            return departures;
        }
        for ((_, left), rate) in running.iter_mut().zip(&rates) {
            *left -= rate * (time - now);
        }
        now = time;
        if completion <= next {
            // Floating point: what is left of a finished job is not quite zero.
            running.retain(|&(job, left)| {
                let done = left <= 1e-6;
                departures.extend(done.then_some((job, now, 0.0)));
                !done
            });
        } else if let Some((_, job, kill)) = events.next() {
            if !kill {
                running.push((job, arrivals[job as usize].work as f64));
            } else if let Some(at) = running.iter().position(|entry| entry.0 == job) {
                departures.push((job, now, running.remove(at).1));
            }
        }
    }
}

/// Each departure is rounded up to a whole nanosecond, which costs the others at most that much of
/// the cores. A job feels more of it when many or heavier jobs come before it has caught up, so this is
/// no bound for the worst case but one that the fixed cases keep.
fn tolerance(jobs: usize, classes: usize) -> f64 {
    let lightest = if classes == 1 { 1.0 } else { WEIGHT[2] / WEIGHT[1] };
    2.0 + jobs as f64 * lightest
}

fn compare(cores: u32, arrivals: &[Arrival], classes: usize) -> Result<(), TestCaseError> {
    let run = simulate(cores, arrivals);
    let mut expected = rescan(cores, arrivals);
    let tolerance = tolerance(arrivals.len(), classes);

    // No job is lost, none leaves twice.
    let mut jobs: Vec<u32> = run.departures.iter().map(|departure| departure.0).collect();
    jobs.sort_unstable();
    prop_assert_eq!(jobs, (0..arrivals.len() as u32).collect::<Vec<_>>());

    // The cores did what the jobs got, to a nanosecond for each departure.
    let departures = arrivals.len() as f64;
    prop_assert!(run.busy >= run.done - 0.01, "{} < {}", run.busy, run.done);
    prop_assert!(run.busy - run.done <= departures * f64::from(cores) + 0.01);

    // Each leaves when it should, having got what it should.
    expected.sort_by_key(|departure| departure.0);
    let mut latest = 0.0;
    for &(job, time, left) in &run.departures {
        let (_, due, due_left) = expected[job as usize];
        prop_assert!((time - due).abs() <= tolerance, "job {} at {}, due {}", job, time, due);
        prop_assert!((left - due_left).abs() <= tolerance, "job {}: {} {}", job, left, due_left);
        // The order of leaving is that of the rescan, but for what the tolerance cannot tell.
        prop_assert!(due >= latest - tolerance);
        latest = f64::max(latest, due);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn equal_jobs_leave_as_if_all_were_rescanned(cores in 1_u32..6, arrivals in arrivals(1)) {
        compare(cores, &arrivals, 1)?;
    }

    #[test]
    fn weighted_jobs_leave_as_if_all_were_rescanned(cores in 1_u32..6, arrivals in arrivals(3)) {
        compare(cores, &arrivals, 3)?;
    }
}
