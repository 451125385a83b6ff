//! The rows of a scenario on the disk: what an earlier run completed is not run again.
//!
//! Every row goes into the journal (`journal.rs`) as it completes; the results are made from
//! the journal when it has all of them. So a run that was interrupted, a run with replications or
//! points added, and a run from nothing end with the same files. Rows are found by the identity of
//! their point and their replication, never by their place in a file.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::journal::{
    HEADER, Journal, ORIGIN, OpenError, POINT, PayloadReader, read_row, row_task, write_row,
};
use super::row::{Row, RowSink};
use super::schedule::Batch;
use super::worker::{Worker, WorldWorker};
use crate::scenario::{Point, RunSettings, Scenario, Seeding};

/// The name of the journal in a folder of results.
pub const JOURNAL: &str = "rows.journal";

/// The folder, in a folder of results, with a folder for each part of the scenario.
pub const SHARDS: &str = "shards";

/// How random streams come from the seed.
#[must_use]
pub fn seed_scheme(run: &RunSettings) -> String {
    let (names, points) = match run.seeding {
        Seeding::Common => ("seed", "replication r of every point has the same streams"),
        Seeding::Independent => ("seed, point", "every point has its own streams"),
    };
    let pairs = if run.antithetic {
        "; replication 2k + 1 has the complement of the bits of 2k"
    } else {
        ""
    };
    format!(
        "Xoshiro256++ seeded by a stable hash of ({names}, replication, component, purpose); \
         {points}{pairs}"
    )
}

/// So many stored rows are run again to see whether the models are still the same.
const ROWS_TRIED: usize = 16;

/// Why a store cannot be had.
#[derive(Debug)]
pub enum StoreError {
    /// Another process is writing to it.
    Locked,
    /// It has the rows of something else: what differs, a sentence each.
    Changed(Vec<String>),
    /// It cannot be read or written.
    Io(io::Error),
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<OpenError> for StoreError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Locked => Self::Locked,
            OpenError::Io(error) => Self::Io(error),
        }
    }
}

/// The rows of one scenario.
#[derive(Debug)]
pub struct Store<'s> {
    scenario: &'s Scenario,
    journal: Journal,
    rows: RowIndex,
}

impl<'s> Store<'s> {
    /// Opens the store in `folder`, which exists; with `fresh`, forgets what is in it.
    ///
    /// # Errors
    /// If another process has it, if it has the rows of something else, or what the operating
    /// system says.
    pub fn open(folder: &Path, scenario: &'s Scenario, fresh: bool) -> Result<Self, StoreError> {
        let mut journal = Journal::open(&folder.join(JOURNAL))?;
        let mut contents = Contents::default();
        if fresh {
            journal.clear()?;
        } else {
            contents = Contents::read(&mut journal)?;
            if contents.rows.is_empty() {
                // A run that completed nothing binds nobody.
                contents = Contents::default();
                journal.clear()?;
            } else {
                let differences = contents.differences(scenario);
                if !differences.is_empty() {
                    return Err(StoreError::Changed(differences));
                }
                journal.start_writing()?;
            }
        }
        let mut store = Self { scenario, journal, rows: contents.rows };
        store.refuse_changed_models()?;
        if contents.header.is_none() {
            let header = header(scenario).to_string();
            store.journal.add(|payload| write_text(HEADER, &header, payload))?;
        }
        for point in &scenario.points {
            if contents.points.get(&point.configuration).is_none_or(|known| known.id != point.id) {
                let text = point_record(point).to_string();
                store.journal.add(|payload| write_text(POINT, &text, payload))?;
            }
        }
        store.journal.hand_over()?;
        Ok(store)
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows.0.values().map(|places| places.len() as u64).sum()
    }

    /// Which replications of `tasks` are not there yet.
    #[must_use]
    pub fn missing(&self, tasks: &[Batch]) -> Vec<Batch> {
        self.rows.missing(self.scenario, tasks)
    }

    /// Gives the rows of `tasks` to every sink, in the order of the tasks.
    ///
    /// # Errors
    /// The first error of a sink, or if a row is not there or cannot be read.
    pub fn replay(&mut self, tasks: &[Batch], sinks: &mut [&mut dyn RowSink]) -> io::Result<()> {
        self.journal.sync()?;
        self.rows.settle();
        self.rows.replay(self.scenario, &self.journal, tasks, sinks)
    }

    /// Adds the rows of the journal `path` that are not there yet.
    ///
    /// # Errors
    /// If it has the rows of something else, or cannot be read.
    pub fn import(&mut self, path: &Path) -> Result<(), StoreError> {
        let mut other = Journal::open_to_read(path)?;
        let contents = Contents::read(&mut other)?;
        let differences = contents.differences(self.scenario);
        if !contents.rows.is_empty() && !differences.is_empty() {
            return Err(StoreError::Changed(differences));
        }
        self.rows.settle();
        let ids: BTreeSet<u64> = self.scenario.points.iter().map(|point| point.id).collect();
        let mut reader = other.reader();
        let mut payload = Vec::new();
        for &id in &ids {
            let known = self.rows.places(id).to_vec();
            let there = |place: &Place| {
                known.binary_search_by_key(&place.replication, |k| k.replication).is_ok()
            };
            for &place in contents.rows.places(id).iter().filter(|place| !there(place)) {
                reader.read(place.offset, &mut payload)?;
                let offset = self.journal.add(|record| record.extend_from_slice(&payload))?;
                self.rows.add(id, Place { offset, ..place });
            }
        }
        self.rows.settle();
        Ok(())
    }

    /// Brings everything to the disk.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn sync(&mut self) -> io::Result<()> {
        self.journal.sync()
    }

    /// Keeps beside the rows how they are run.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn note_origin(&mut self, origin: &Value) -> io::Result<()> {
        let text = origin.to_string();
        self.journal.add(|payload| write_text(ORIGIN, &text, payload))?;
        self.journal.hand_over()
    }

    /// A model that was changed under the same version number gives other rows: some of those
    /// stored are run again, a few at most, evenly over the points.
    fn refuse_changed_models(&self) -> Result<(), StoreError> {
        let stored: Vec<(usize, &Place)> = self
            .scenario
            .points
            .iter()
            .enumerate()
            .filter_map(|(index, point)| Some((index, self.rows.places(point.id).first()?)))
            .collect();
        let step = stored.len().div_ceil(ROWS_TRIED).max(1);
        let mut worker = WorldWorker::new(self.scenario);
        let mut reader = self.journal.reader();
        let (mut payload, mut before) = (Vec::new(), Row::blank());
        for &(point, place) in stored.iter().step_by(step) {
            read_at(&mut reader, place, point, &mut payload, &mut before)?;
            if !same(&before, &worker.replicate(point, place.replication)) {
                return Err(StoreError::Changed(vec![format!(
                    "replication {} of \"{}\" now gives other events or figures: a model was \
                     changed",
                    place.replication, self.scenario.points[point].configuration
                )]));
            }
        }
        Ok(())
    }
}

impl RowSink for Store<'_> {
    fn row(&mut self, row: &Row) -> io::Result<()> {
        let id = self.scenario.points[row.point].id;
        let offset = self.journal.add(|payload| write_row(id, row, payload))?;
        self.rows.add(id, Place { replication: row.replication, offset });
        Ok(())
    }
}

/// The rows in a folder, only read: nothing is locked, tried or written.
pub(super) struct RowsAt<'s> {
    scenario: &'s Scenario,
    journal: Journal,
    rows: RowIndex,
}

impl<'s> RowsAt<'s> {
    /// Reads which rows of `scenario` are in `folder`.
    ///
    /// # Errors
    /// If they are the rows of something else, or cannot be read.
    pub(super) fn open(folder: &Path, scenario: &'s Scenario) -> Result<Self, StoreError> {
        let mut journal = Journal::open_to_read(&folder.join(JOURNAL))?;
        let contents = Contents::read(&mut journal)?;
        let differences = contents.differences(scenario);
        if !contents.rows.is_empty() && !differences.is_empty() {
            return Err(StoreError::Changed(differences));
        }
        Ok(Self { scenario, journal, rows: contents.rows })
    }

    /// As [`Store::missing`].
    pub(super) fn missing(&self, tasks: &[Batch]) -> Vec<Batch> {
        self.rows.missing(self.scenario, tasks)
    }

    /// As [`Store::replay`].
    pub(super) fn replay(&self, tasks: &[Batch], sinks: &mut [&mut dyn RowSink]) -> io::Result<()> {
        self.rows.replay(self.scenario, &self.journal, tasks, sinks)
    }
}

/// True when two rows say the same. The bits of a figure that did not come about do not matter.
fn same(before: &Row, now: &Row) -> bool {
    let rest = |row: &Row| (row.status, row.end, row.events, row.fingerprint, row.figures.len());
    let figure = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    rest(before) == rest(now) && before.figures.iter().zip(&now.figures).all(figure)
}

/// Where a row stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    replication: u64,
    offset: u64,
}

/// Where every row stands, by the identity of its point: 16 bytes each.
#[derive(Clone, Debug, Default)]
pub(super) struct RowIndex(BTreeMap<u64, Vec<Place>>);

impl RowIndex {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, id: u64, place: Place) {
        self.0.entry(id).or_default().push(place);
    }

    /// Brings the rows of each point into order; of two that are the same, one counts.
    fn settle(&mut self) {
        for places in self.0.values_mut() {
            if !places.is_sorted_by_key(|place| place.replication) {
                places.sort_unstable();
            }
            places.dedup_by_key(|place| place.replication);
        }
    }

    fn places(&self, id: u64) -> &[Place] {
        self.0.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The places of a settled index that are among `replications` of the point `id`.
    fn within(&self, id: u64, replications: &std::ops::Range<u64>) -> &[Place] {
        let places = self.places(id);
        let from = places.partition_point(|place| place.replication < replications.start);
        let to = places.partition_point(|place| place.replication < replications.end);
        &places[from..to.max(from)]
    }

    fn missing(&self, scenario: &Scenario, tasks: &[Batch]) -> Vec<Batch> {
        let mut missing = Vec::new();
        for task in tasks {
            let mut next = task.replications.start;
            let mut gap = |from: u64, to: u64| {
                if from < to {
                    missing.push(Batch { point: task.point, replications: from..to });
                }
            };
            for place in self.within(scenario.points[task.point].id, &task.replications) {
                gap(next, place.replication);
                next = place.replication + 1;
            }
            gap(next, task.replications.end);
        }
        missing
    }

    fn replay(
        &self,
        scenario: &Scenario,
        journal: &Journal,
        tasks: &[Batch],
        sinks: &mut [&mut dyn RowSink],
    ) -> io::Result<()> {
        let mut reader = journal.reader();
        let (mut payload, mut row) = (Vec::new(), Row::blank());
        for task in tasks {
            let places = self.within(scenario.points[task.point].id, &task.replications);
            let wanted = task.replications.end.saturating_sub(task.replications.start);
            if places.len() as u64 != wanted {
                return Err(io::Error::other("a row that was written cannot be found"));
            }
            for place in places {
                read_at(&mut reader, place, task.point, &mut payload, &mut row)?;
                sinks.iter_mut().try_for_each(|sink| sink.row(&row))?;
            }
        }
        Ok(())
    }
}

fn read_at(
    reader: &mut PayloadReader<'_>,
    place: &Place,
    point: usize,
    payload: &mut Vec<u8>,
    row: &mut Row,
) -> io::Result<()> {
    reader.read(place.offset, payload)?;
    read_row(point, payload, row)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a row cannot be understood"))
}

/// The last origin kept in the journal `path`.
///
/// # Errors
/// If it cannot be read.
pub fn read_origin(path: &Path) -> io::Result<Option<Value>> {
    let mut origin = None;
    Journal::open_to_read(path)?.scan(|_, payload| {
        if let Some(text) = payload.strip_prefix(&[ORIGIN]) {
            origin = serde_json::from_slice(text).ok();
        }
    })?;
    Ok(origin)
}

/// What keeps the rows of the journal `path` from being rows of `scenario`, a sentence each, as far
/// as it can be told from what stands before the first of them: the journal is not read whole. A
/// journal without rows binds nobody.
///
/// # Errors
/// If it cannot be read.
pub fn first_differences(path: &Path, scenario: &Scenario) -> io::Result<Vec<String>> {
    let mut contents = Contents::default();
    Journal::open_to_read(path)?.scan_while(|offset, payload| {
        contents.take(offset, payload);
        contents.rows.is_empty()
    })?;
    Ok(if contents.rows.is_empty() { Vec::new() } else { contents.differences(scenario) })
}

/// What a journal has.
#[derive(Debug, Default)]
pub(super) struct Contents {
    header: Option<Map<String, Value>>,
    /// By the name of the configuration.
    points: HashMap<String, KnownPoint>,
    rows: RowIndex,
}

/// A point as it was when it was run.
#[derive(Debug)]
struct KnownPoint {
    id: u64,
    parameters: Value,
}

impl Contents {
    /// Reads `journal`.
    fn read(journal: &mut Journal) -> io::Result<Self> {
        let mut contents = Self::default();
        journal.scan(|offset, payload| contents.take(offset, payload))?;
        contents.rows.settle();
        Ok(contents)
    }

    fn take(&mut self, offset: u64, payload: &[u8]) {
        if let Some((id, replication)) = row_task(payload) {
            self.rows.add(id, Place { replication, offset });
            return;
        }
        let Some((&kind, text)) = payload.split_first() else { return };
        let Ok(Value::Object(record)) = serde_json::from_slice(text) else { return };
        let text = |key: &str| record.get(key).and_then(Value::as_str);
        if kind == HEADER {
            self.header = Some(record);
        } else if let (POINT, Some(name), Some(Ok(id))) =
            (kind, text("configuration"), text("id").map(|id| u64::from_str_radix(id, 16)))
        {
            let parameters = record.get("parameters").cloned().unwrap_or_default();
            self.points.insert(name.to_owned(), KnownPoint { id, parameters });
        }
    }

    /// What keeps these rows from being rows of `scenario`, a sentence each.
    fn differences(&self, scenario: &Scenario) -> Vec<String> {
        let now = header(scenario);
        let empty = Map::new();
        let before = self.header.as_ref().unwrap_or(&empty);
        let mut differences = Vec::new();
        for (key, value) in now.as_object().unwrap_or(&empty) {
            let old = before.get(key).unwrap_or(&Value::Null);
            if old != value {
                differences.push(changed(&key.replace('_', " "), old, value));
            }
        }
        for point in &scenario.points {
            let Some(known) = self.points.get(&point.configuration) else { continue };
            if known.id != point.id {
                let name = &point.configuration;
                let mut found = Vec::new();
                compare("", &known.parameters, &parameters(point), &mut found);
                if found.is_empty() {
                    found.push("its connections or recordings are others".to_owned());
                }
                differences.extend(found.iter().map(|text| format!("\"{name}\": {text}")));
            }
        }
        differences
    }
}

/// What all rows of a scenario have in common.
fn header(scenario: &Scenario) -> Value {
    let run = &scenario.run;
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "seed": run.seed,
        "seed_scheme": seed_scheme(run),
        "horizon": run.horizon,
        "event_budget": run.event_budget,
        "metrics": scenario.columns().into_iter().map(|column| column.name).collect::<Vec<_>>(),
    })
}

fn point_record(point: &Point) -> Value {
    json!({
        "id": format!("{:016x}", point.id),
        "configuration": point.configuration,
        "parameters": parameters(point),
    })
}

fn parameters(point: &Point) -> Value {
    let value = |config| serde_json::to_value(config).unwrap_or_default();
    let components = point.components.iter();
    Value::Object(components.map(|(name, config)| (name.clone(), value(config))).collect())
}

fn write_text(kind: u8, text: &str, payload: &mut Vec<u8>) {
    payload.push(kind);
    payload.extend_from_slice(text.as_bytes());
}

/// The parameters under `path` that differ.
fn compare(path: &str, before: &Value, now: &Value, found: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(old), Value::Object(new)) => {
            let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let of = |map: &Map<String, Value>| map.get(key).cloned().unwrap_or_default();
                compare(&path, &of(old), &of(new), found);
            }
        }
        _ if before != now => found.push(changed(path, before, now)),
        _ => {}
    }
}

/// Characters of a value that are shown, and how many of them before the first that differs.
const SHOWN: usize = 60;
const SHOWN_BEFORE: usize = 20;

fn changed(what: &str, before: &Value, now: &Value) -> String {
    let text = |value: &Value| match value {
        Value::Null => "not set".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let (before, now) = (text(before), text(now));
    let same = before.chars().zip(now.chars()).take_while(|(old, new)| old == new).count();
    // Long values begin a little before they part.
    let long = before.chars().count().max(now.chars().count()) > SHOWN;
    let start = if long { same.saturating_sub(SHOWN_BEFORE) } else { 0 };
    let shown = |text: &str| {
        let part: String = text.chars().skip(start).take(SHOWN).collect();
        let before = if start > 0 { "..." } else { "" };
        let after = if text.chars().count() > start + SHOWN { "..." } else { "" };
        format!("{before}{part}{after}")
    };
    format!("{what} was {}, is {}", shown(&before), shown(&now))
}
