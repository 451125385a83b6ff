//! Why something took as long as it did: what it waited for, with what those that it waited for were
//! busy with meanwhile.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::Timeline;
use super::text::{STILL, rounded};
use crate::engine::trace::{Chain, Lane, Left, Span};
use crate::engine::{SimDuration, SimTime};
use crate::quantities::duration::format_duration;
use crate::report::terminal::hanging;

/// How far what belongs to a line is indented below it.
const INDENT: usize = 4;

/// What lasted less than this share of its chain is not broken down.
const WORTH_BREAKING_DOWN: f64 = 0.02;
/// Most steps of a chain with a line of their own.
const MOST_STEPS: usize = 24;
/// Most kinds of things that were done meanwhile.
const MOST_KINDS: usize = 4;

/// The longest chains, the longest first, at most `most`. Of a replication that did not come to what
/// was asked for: what is left, and those first that have no outcome.
#[must_use]
pub fn explain(timeline: Timeline<'_>, most: usize) -> String {
    let mut text = left(timeline);
    let unfinished = !text.is_empty();
    let mut chains: Vec<&Chain> = timeline.trace.chains.iter().collect();
    chains.sort_by_key(|chain| (!(unfinished && chain.open), Reverse(lasted(chain))));
    let Some(shortest) = chains.iter().min_by_key(|chain| lasted(chain)) else {
        text.push_str("nothing that was waited for was recorded; see --text\n");
        return text;
    };
    for chain in chains.iter().take(most) {
        one(&mut text, timeline, chain);
    }
    if chains.len() > most {
        let more = chains.len() - most;
        let _ = writeln!(text, "and {more} more, the shortest {}", short(lasted(shortest)));
    }
    text
}

/// Why the replication counts as not converged.
fn left(timeline: Timeline<'_>) -> String {
    let trace = timeline.trace;
    if trace.left.is_empty() {
        return String::new();
    }
    let several = timeline.components.len() > 1;
    let one = |left: &Left| {
        let whose = if several { timeline.component(left.component) } else { "" };
        let whose = if several { format!("{whose}: ") } else { whose.to_owned() };
        format!("{whose}{} {}", left.count, of_count(left.what, left.count))
    };
    let all: Vec<String> = trace.left.iter().map(one).collect();
    let text = format!("Not converged by {}. Left: {}", at(trace.end), all.join(", "));
    format!("{}\n", hanging("", INDENT, &text))
}

/// `path not settled` of `paths not settled` where there is one.
fn of_count(what: &str, count: u64) -> String {
    let (first, rest) = what.split_once(' ').unwrap_or((what, ""));
    let one = if count == 1 { first.strip_suffix('s').unwrap_or(first) } else { first };
    format!("{one} {rest}")
}

fn at(time: SimTime) -> String {
    format!("{:.3} s", time.as_seconds())
}

fn lasted(chain: &Chain) -> SimDuration {
    chain.end.since(chain.start)
}

fn one(text: &mut String, timeline: Timeline<'_>, chain: &Chain) {
    let Chain { lane, name, number, start, end, outcome, open, .. } = *chain;
    let number = if number > 0 { format!(" {number}") } else { String::new() };
    let within = |time: SimTime| start <= time && time <= end;
    let whose = timeline.lane(lane);
    let (begin, length) = (at(start), short(lasted(chain)));
    let by = if open { format!(" by the end at {},", at(end)) } else { String::new() };
    let title = format!("{whose}: {name}{number} from {begin}, {outcome}{by} after {length}");
    text.push_str(&hanging("", INDENT, &title));
    let mut line = |bullet: &str, what: &str| {
        text.push_str(&hanging(bullet, 2 * INDENT, what));
    };
    let mut spans: Vec<&Span> = timeline
        .trace
        .spans
        .iter()
        .filter(|span| span.lane == lane && within(span.start) && within(span.end))
        .collect();
    spans.sort_by_key(|span| (span.start, span.end));
    let instants = timeline.trace.instants.iter().filter(|i| i.lane == lane && within(i.time));
    let mut marks = instants.peekable();
    let skipped = skipped(spans.len());
    for (index, span) in spans.iter().enumerate() {
        if skipped.contains(&index) {
            if index == skipped.start {
                let until = spans.get(skipped.end).map_or(end, |span| span.start);
                let before = std::iter::from_fn(|| marks.next_if(|mark| mark.time <= until));
                let before: Vec<&str> = before.map(|mark| mark.name).collect();
                line("    ... ", &summed(&spans[skipped.clone()], &before));
            }
            continue;
        }
        while let Some(mark) = marks.next_if(|mark| mark.time <= span.start) {
            line("    ", &format!("{} at {}", mark.name, at(mark.time)));
        }
        let took = span.end.since(span.start);
        let still = if span.open { STILL } else { "" };
        let mut what = format!("{} {}{still}", span.name, short(took));
        if took.as_seconds() >= lasted(chain).as_seconds() * WORTH_BREAKING_DOWN {
            what.push_str(&meanwhile(timeline, chain, span));
        }
        line("    -> ", &what);
        // What happened while it lasted is part of it: a retransmission, a drop.
        while let Some(mark) = marks.next_if(|mark| mark.time < span.end) {
            line("       ", &format!("{} at {}", mark.name, at(mark.time)));
        }
    }
    for mark in marks {
        line("    -> ", &format!("{} at {}", mark.name, at(mark.time)));
    }
    let parts = parts(chain);
    if !parts.is_empty() {
        line("    ", &parts);
    }
    text.push('\n');
}

/// Which of so many steps stand in one line: those in the middle of very many.
fn skipped(steps: usize) -> std::ops::Range<usize> {
    if steps <= MOST_STEPS {
        return 0..0;
    }
    MOST_STEPS / 3..steps - MOST_STEPS / 3
}

/// Many steps, and what happened in their time, by name.
fn summed(spans: &[&Span], marks: &[&str]) -> String {
    let mut sums: Vec<(&str, u64, SimDuration)> = Vec::new();
    let steps = spans.iter().map(|span| (span.name, span.end.since(span.start)));
    for (name, took) in steps.chain(marks.iter().map(|name| (*name, SimDuration::ZERO))) {
        match sums.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, count, sum)) => (*count, *sum) = (*count + 1, sum.saturating_add(took)),
            None => sums.push((name, 1, took)),
        }
    }
    let one = |(name, count, sum): &(&str, u64, SimDuration)| {
        let took = if sum.is_zero() { String::new() } else { format!(" {}", short(*sum)) };
        format!("{count} x {name}{took}")
    };
    sums.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Where the time of a chain went beside what its spans say.
fn parts(chain: &Chain) -> String {
    let worth = lasted(chain).as_seconds() * WORTH_BREAKING_DOWN;
    let mut parts = chain.parts.clone();
    parts.retain(|(_, time)| !time.is_zero() && time.as_seconds() >= worth);
    parts.sort_by_key(|(_, time)| Reverse(*time));
    let parts: Vec<String> =
        parts.iter().map(|(name, time)| format!("{name} {}", short(*time))).collect();
    if parts.is_empty() { String::new() } else { format!("of which {}", parts.join(", ")) }
}

/// How much of `span` those that the chain waited for were busy with what, ended or under way in it.
fn meanwhile(timeline: Timeline<'_>, chain: &Chain, span: &Span) -> String {
    let is_server = |lane: Lane| match chain.server {
        Some(server) => lane == server,
        None => lane.component == chain.lane.component && timeline.trace.servers.contains(&lane),
    };
    let mut kinds: BTreeMap<&str, Done> = BTreeMap::new();
    let others = timeline.trace.spans.iter().filter(|other| is_server(other.lane));
    let for_nobody = chain.server == Some(chain.lane)
        || timeline.trace.alone.contains(&(span.lane.component, span.name));
    for other in others.filter(|_| !for_nobody) {
        let (start, end) = (other.start.max(span.start), other.end.min(span.end));
        if start < end {
            let done = kinds.entry(other.name).or_default();
            done.count += 1;
            done.lanes.entry(other.lane).or_default().push((start, end));
        }
    }
    let mut kinds: Vec<(&str, Done)> = kinds.into_iter().collect();
    kinds.sort_by_cached_key(|(_, done)| Reverse(done.time()));
    let mut parts: Vec<String> = Vec::new();
    if span.value > 0 {
        parts.push(format!("behind {} at its beginning", span.value));
    }
    parts.extend(kinds.iter().take(MOST_KINDS).map(|(name, done)| done.text(timeline, name)));
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
}

/// What was done of one kind.
#[derive(Default)]
struct Done {
    count: u64,
    /// When, in each lane.
    lanes: BTreeMap<Lane, Vec<(SimTime, SimTime)>>,
}

impl Done {
    /// How long it went on, over all lanes; what one lane does at a time, as a process with threads
    /// does, counts once.
    fn time(&self) -> SimDuration {
        let all = self.lanes.values().map(|spans| union(spans.clone()));
        all.fold(SimDuration::ZERO, SimDuration::saturating_add)
    }

    /// Several at a time took more time in sum than went by, which only each one's own share says.
    fn text(&self, timeline: Timeline<'_>, name: &str) -> String {
        let Self { count, lanes } = self;
        let (several, sum) = (lanes.len() as u64, self.time());
        if several <= 1 {
            return format!("{count} x {name} {}", short(sum));
        }
        let each = SimDuration::from_nanos(sum.as_nanos() / several);
        let lanes = lanes.keys().copied().collect();
        format!("{count} x {name} on {}, {} of each", who(timeline, &lanes), short(each))
    }
}

/// How long at least one of `spans` goes on.
fn union(mut spans: Vec<(SimTime, SimTime)>) -> SimDuration {
    spans.sort_unstable();
    let (mut sum, mut until) = (SimDuration::ZERO, SimTime::ZERO);
    for (start, end) in spans {
        if end > until {
            sum = sum.saturating_add(end.since(start.max(until)));
            until = end;
        }
    }
    sum
}

/// `8 workers` of lanes called `worker 0` to `worker 7`.
fn who(timeline: Timeline<'_>, lanes: &BTreeSet<Lane>) -> String {
    let kind = |lane: &Lane| {
        let name = timeline.lane(*lane);
        name.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ').to_owned()
    };
    let mut kinds: Vec<String> = lanes.iter().map(kind).collect();
    kinds.dedup();
    let kind = if let [one] = kinds.as_slice() { one } else { "lane" };
    format!("{} {kind}s", lanes.len())
}

fn short(span: SimDuration) -> String {
    format_duration(rounded(span))
}
