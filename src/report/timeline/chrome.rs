//! The Trace Event Format (JSON), as ui.perfetto.dev and chrome://tracing read it: complete events
//! (X), counters (C), arrows (s and f) and metadata (M), with whole ids and times in microseconds.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::Timeline;
use crate::engine::SimTime;
use crate::engine::trace::{Lane, Link, Span};

/// Writes the timeline. Spans that overlap in one lane go to lanes of their own, as the format
/// has no place for two at once that are not one within the other.
///
/// # Errors
/// Those of `output`.
pub fn write_chrome(timeline: Timeline<'_>, output: impl Write) -> io::Result<()> {
    let mut writer = EventWriter { output, first: true };
    writer.output.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")?;
    for (index, name) in timeline.components.iter().enumerate() {
        let args = json!({ "name": name });
        writer
            .event(&json!({ "ph": "M", "name": "process_name", "pid": index + 1, "args": args }))?;
    }
    let mut spans: BTreeMap<Lane, Vec<&Span>> = BTreeMap::new();
    for span in &timeline.trace.spans {
        spans.entry(span.lane).or_default().push(span);
    }
    let mut thread: u32 = 0;
    let mut places = Places::default();
    for lane in timeline.lanes() {
        let own = spans.remove(&lane).unwrap_or_default();
        for (row, spans) in rows(own).into_iter().enumerate() {
            thread += 1;
            let suffix = if row > 0 { format!(" ({})", row + 1) } else { String::new() };
            writer.thread(timeline, lane, thread, &suffix)?;
            places.0.entry(lane).or_default().push((thread, spans.clone()));
            for span in spans {
                let duration = micros(span.end.as_nanos() - span.start.as_nanos());
                let mut args = json!({ "value": span.value });
                if span.open {
                    args["open"] = json!(true);
                }
                writer.complete(lane, thread, span.name, span.start, duration, &args)?;
            }
            let instants = timeline.trace.instants.iter().filter(|i| row == 0 && i.lane == lane);
            for instant in instants {
                let args = json!({ "value": instant.value });
                writer.complete(lane, thread, instant.name, instant.time, json!(0), &args)?;
            }
        }
    }
    for (id, link) in timeline.trace.links.iter().enumerate() {
        writer.link(id, link, &places)?;
    }
    for level in &timeline.trace.levels {
        let ts = micros(level.time.as_nanos());
        let args = json!({ level.name: level.value });
        let pid = u32::from(level.component) + 1;
        writer.event(
            &json!({ "ph": "C", "name": level.name, "pid": pid, "tid": 0, "ts": ts, "args": args }),
        )?;
    }
    writer.output.write_all(b"\n]}\n")?;
    writer.output.flush()
}

/// The rows of each lane, by the thread that they are shown as.
#[derive(Default)]
struct Places<'t>(BTreeMap<Lane, Vec<(u32, Vec<&'t Span>)>>);

impl Places<'_> {
    /// The thread on which something is going on in `lane` at `time`, and when an arrow is to hold on
    /// to it: a reader has closed what ends at an instant before it looks for what is open then.
    fn hold(&self, (lane, time): (Lane, SimTime)) -> Option<(u32, SimTime)> {
        let open = |at: SimTime| self.open(lane, at).map(|thread| (thread, at));
        let before = time.as_nanos().checked_sub(1).map(SimTime::from_nanos);
        open(time).or_else(|| open(before?))
    }

    /// The thread on which something is going on in `lane` at `time`, and not about to end.
    fn open(&self, lane: Lane, time: SimTime) -> Option<u32> {
        let last = |spans: &Vec<&Span>| {
            let begun = spans.partition_point(|span| span.start <= time);
            begun.checked_sub(1).map(|last| spans[last].end)
        };
        let mut rows = self.0.get(&lane)?.iter();
        rows.find(|(_, spans)| last(spans).is_some_and(|end| end > time)).map(|row| row.0)
    }
}

struct EventWriter<W> {
    output: W,
    first: bool,
}

impl<W: Write> EventWriter<W> {
    fn event(&mut self, event: &Value) -> io::Result<()> {
        if !std::mem::take(&mut self.first) {
            self.output.write_all(b",\n")?;
        }
        serde_json::to_writer(&mut self.output, event).map_err(io::Error::from)
    }

    fn thread(
        &mut self,
        timeline: Timeline<'_>,
        lane: Lane,
        thread: u32,
        suffix: &str,
    ) -> io::Result<()> {
        let pid = u32::from(lane.component) + 1;
        let name = json!({ "name": format!("{}{suffix}", timeline.lane(lane)) });
        let order = json!({ "sort_index": thread });
        for (kind, args) in [("thread_name", name), ("thread_sort_index", order)] {
            let event = json!({ "ph": "M", "name": kind, "pid": pid, "tid": thread, "args": args });
            self.event(&event)?;
        }
        Ok(())
    }

    /// An arrow; an end where nothing is going on has nothing to hold on to.
    fn link(&mut self, id: usize, link: &Link, places: &Places<'_>) -> io::Result<()> {
        let (Some(mut from), Some(to)) = (places.hold(link.from), places.hold(link.to)) else {
            return Ok(());
        };
        if from.1 > to.1 {
            // What it leads to ends at this instant and is held a nanosecond before: so must be what
            // it comes from, and an arrow that would point back in time is none.
            match places.open(link.from.0, to.1) {
                Some(thread) => from = (thread, to.1),
                None => return Ok(()),
            }
        }
        let ends = [("s", link.from.0, from), ("f", link.to.0, to)];
        for (kind, lane, (thread, time)) in ends {
            let (pid, ts) = (u32::from(lane.component) + 1, micros(time.as_nanos()));
            let mut event = json!({
                "ph": kind, "id": id, "name": link.name, "cat": "wait", "pid": pid, "tid": thread,
                "ts": ts,
            });
            if kind == "f" {
                event["bp"] = json!("e");
            }
            self.event(&event)?;
        }
        Ok(())
    }

    fn complete(
        &mut self,
        lane: Lane,
        thread: u32,
        name: &str,
        start: SimTime,
        duration: Value,
        args: &Value,
    ) -> io::Result<()> {
        let (pid, ts) = (u32::from(lane.component) + 1, micros(start.as_nanos()));
        self.event(&json!({
            "ph": "X", "name": name, "pid": pid, "tid": thread, "ts": ts, "dur": duration, "args": args,
        }))
    }
}

/// The spans in rows in which none overlaps another; at least one row.
fn rows(mut spans: Vec<&Span>) -> Vec<Vec<&Span>> {
    spans.sort_by_key(|span| (span.start, span.end));
    let mut rows: Vec<Vec<&Span>> = vec![Vec::new()];
    for span in spans {
        let free = |row: &&mut Vec<&Span>| row.last().is_none_or(|last| last.end <= span.start);
        match rows.iter_mut().find(free) {
            Some(row) => row.push(span),
            None => rows.push(vec![span]),
        }
    }
    rows
}

/// Nanoseconds as microseconds: whole where they are, and never below, so that a reader that cuts off
/// after multiplying by 1000 gets the same nanosecond, and spans that touch do not overlap.
fn micros(nanos: u64) -> Value {
    if nanos.is_multiple_of(1_000) {
        return json!(nanos / 1_000);
    }
    let mut micros = nanos as f64 / 1e3;
    while ((micros * 1e3) as u64) < nanos {
        micros = micros.next_up();
    }
    json!(micros)
}
