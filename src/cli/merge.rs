//! `convsim merge`: the parts of a scenario, run with `--shard`, into one result.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::experiment::precision::settle_replications;
use crate::experiment::store::{JOURNAL, SHARDS, first_differences, read_origin};
use crate::experiment::{Batch, Shard, Store, StoreError};
use crate::scenario::{LoadOptions, Scenario};
use clap::Args;
use serde_json::{Value, json};

use super::arguments::{OUTPUT, Results, load, recorded};
use super::error::{CliError, Problem};
use super::run::{count, prepare, refused, write_error, write_results};
use super::{Outcome, print};

/// What `convsim merge` understands.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
The scenario file is looked for under the name that the parts were run with; --scenario says \
where else it is. Every replication counts once, however often it was run. When some are missing, the commands that run \
just these are printed.")]
pub struct Arguments {
    /// Folders of results that `convsim run --shard` made, e.g. outputs/SCENARIO
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// The scenario file, when the parts were run where it has another name
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    #[command(flatten)]
    results: Results,
}

/// How a part was run.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The scenario file as it was named.
    pub file: PathBuf,
    /// What the loader was asked for.
    pub options: LoadOptions,
    /// The number of replications is meant to be that number.
    pub fixed: bool,
    /// Which part.
    pub shard: Shard,
}

impl Origin {
    /// As it is kept beside the rows.
    pub fn record(&self) -> Value {
        json!({
            "file": self.file.to_string_lossy(),
            "set": self.options.set,
            "vary": self.options.vary,
            "design": self.options.design,
            "where": self.options.conditions,
            "configuration": self.options.configurations,
            "max_points": self.options.max_points,
            "fixed": self.fixed,
            "shard": self.shard.to_string(),
        })
    }

    fn read(record: &Value) -> Option<Self> {
        let list = |key: &str| -> Option<Vec<String>> {
            let items = record.get(key)?.as_array()?.iter();
            items.map(|item| item.as_str().map(str::to_owned)).collect()
        };
        Some(Self {
            file: record.get("file")?.as_str()?.into(),
            options: LoadOptions {
                set: list("set")?,
                vary: list("vary")?,
                design: record.get("design").and_then(Value::as_str).map(str::to_owned),
                conditions: list("where").unwrap_or_default(),
                configurations: list("configuration")?,
                max_points: usize::try_from(record.get("max_points")?.as_u64()?).ok()?,
                ..LoadOptions::default()
            },
            fixed: record.get("fixed")?.as_bool()?,
            shard: record.get("shard")?.as_str()?.parse().ok()?,
        })
    }

    /// Whether both asked for the same, whatever the part.
    fn asks_as(&self, other: &Self) -> bool {
        Self { shard: other.shard, ..self.clone() }.record() == other.record()
    }

    /// The scenario.
    fn load(&self) -> Result<Scenario, CliError> {
        let mut scenario = load(&self.file, &self.options)?;
        if self.fixed {
            scenario.run.precision = None;
        }
        Ok(scenario)
    }

    /// What runs the part `shard`, for a merge of what is then below `output`.
    fn command(&self, shard: Shard, replications: u64, output: &Path) -> String {
        let mut words = vec!["convsim run".to_owned(), quoted(&self.file.to_string_lossy())];
        let design: Vec<String> = self.options.design.iter().cloned().collect();
        let lists = [
            ("--set", &self.options.set),
            ("--vary", &self.options.vary),
            ("--design", &design),
            ("--where", &self.options.conditions),
            ("--configuration", &self.options.configurations),
        ];
        for (flag, values) in lists {
            // --replications says that by itself.
            let said = |value: &&String| self.fixed && value.starts_with("run.replications=");
            let values = values.iter().filter(|value| !said(value));
            words.extend(values.map(|value| format!("{flag} {}", quoted(value))));
        }
        if self.fixed {
            words.push(format!("--replications {replications}"));
        }
        if output != Path::new(OUTPUT) {
            words.push(format!("--output {}", quoted(&output.to_string_lossy())));
        }
        words.push(format!("--shard {shard}"));
        words.join(" ")
    }
}

/// `text` as one word of a shell.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// Runs the command.
pub fn merge(arguments: &Arguments) -> Result<Outcome, CliError> {
    let mut journals = Vec::new();
    for folder in &arguments.folders {
        let listing = |error| Problem::Listing { folder: folder.clone(), error };
        journals.extend(find_journals(folder).map_err(listing)?);
    }
    let unreadable = |path: &Path, error| Problem::Listing { folder: path.to_owned(), error };
    let mut origins = Vec::new();
    for path in &journals {
        let record = read_origin(path).map_err(|error| unreadable(path, error))?;
        origins.extend(record.as_ref().and_then(Origin::read));
    }
    if let Some(file) = &arguments.scenario {
        origins.iter_mut().for_each(|origin| origin.file.clone_from(file));
    }
    let Some((origin, scenario)) = most_asked(origins)? else {
        return Err(Problem::NoShards { folder: arguments.folders[0].clone() }.into());
    };
    let folder = prepare(arguments.results.output.join(&scenario.name))?;
    let mut store = Store::open(folder.path(), &scenario, false)
        .map_err(|error| not_merged(folder.path(), error))?;
    folder.remove_leftovers().map_err(|error| write_error(&folder, error))?;
    for path in journals.iter().filter(|path| **path != folder.path().join(JOURNAL)) {
        let part = path.parent().unwrap_or(path);
        store.import(path).map_err(|error| not_merged(part, error))?;
    }
    let mut missing: Vec<Batch> = Vec::new();
    let settled = settle_replications(&scenario, |tasks, sink| {
        missing.extend(store.missing(tasks));
        match sink {
            // The rule says nothing about a point that is not complete.
            Some(_) if !missing.is_empty() => Err(io::ErrorKind::NotFound.into()),
            Some(sink) => store.replay(tasks, &mut [sink]),
            None => Ok(()),
        }
    });
    if !missing.is_empty() {
        let output = output_of(arguments, &scenario.name);
        return Err(incomplete(&origin, &scenario, &missing, output)?.into());
    }
    let settled = settled.map_err(|error| write_error(&folder, error))?;
    let recorded = recorded(&origin.options);
    write_results(&scenario, &mut store, &folder, &settled, recorded, &arguments.results)
}

/// The origin that asked for the most replications, with its scenario: those of the others are among
/// them. Says so where others asked for fewer.
fn most_asked(origins: Vec<Origin>) -> Result<Option<(Origin, Scenario)>, CliError> {
    let mut most: Option<(Origin, Scenario)> = None;
    let mut counts: BTreeSet<u64> = BTreeSet::new();
    let mut seen: Vec<Origin> = Vec::new();
    for origin in origins {
        if seen.iter().any(|known| origin.asks_as(known)) {
            continue;
        }
        seen.push(origin.clone());
        let scenario = origin.load()?;
        counts.insert(scenario.run.replications);
        let asked = |scenario: &Scenario| {
            let until = scenario.run.precision.as_ref().map(|precision| precision.max_replications);
            (until, scenario.run.replications)
        };
        if most.as_ref().is_none_or(|(_, known)| asked(known) < asked(&scenario)) {
            most = Some((origin, scenario));
        }
    }
    if let (Some((_, scenario)), 2..) = (&most, counts.len()) {
        let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
        eprintln!(
            "{}: the parts were run with different numbers of replications ({}); merged are those \
             with {}",
            scenario.name,
            counts.join(", "),
            scenario.run.replications
        );
    }
    Ok(most)
}

/// What --output must be for parts that are found below the folders of `arguments` again.
fn output_of<'a>(arguments: &'a Arguments, scenario: &str) -> &'a Path {
    let named = |folder: &&PathBuf| folder.file_name().is_some_and(|name| name == scenario);
    match arguments.folders.iter().find(named).and_then(|folder| folder.parent()) {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => &arguments.results.output,
    }
}

/// Why the rows in `folder` cannot be put together with those of the scenario.
fn not_merged(folder: &Path, error: StoreError) -> CliError {
    match error {
        StoreError::Changed(differences) => {
            Problem::NotMerged { folder: folder.to_owned(), differences }.into()
        }
        other => refused(folder, other),
    }
}

/// Refuses to run parts of `scenario` beside rows with which they could not be merged: those in
/// `folder`, the scenario's folder of results, and in other parts than `own` below it. With `fresh`
/// the other parts are about to be replaced. What cannot be read is for merge to say.
pub fn refuse_others(
    folder: &Path,
    scenario: &Scenario,
    own: Option<Shard>,
    fresh: bool,
) -> Result<(), CliError> {
    let whole = folder.join(JOURNAL);
    let own = own.map(|own| folder.join(SHARDS).join(own.folder()).join(JOURNAL));
    let others = find_journals(folder).unwrap_or_default().into_iter();
    for path in others.filter(|path| *path == whole || (!fresh && Some(path) != own.as_ref())) {
        let differences = first_differences(&path, scenario).unwrap_or_default();
        if !differences.is_empty() {
            let folder = path.parent().unwrap_or(&path).to_owned();
            return Err(Problem::NotToMerge { folder, differences }.into());
        }
    }
    Ok(())
}

/// The journals in `folder` and in the parts below it.
fn find_journals(folder: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?;
    let mut found = vec![folder.join(JOURNAL)];
    match fs::read_dir(folder.join(SHARDS)) {
        Ok(entries) => {
            for entry in entries {
                found.push(entry?.path().join(JOURNAL));
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    found.retain(|path| path.exists());
    found.sort();
    Ok(found)
}

/// Prints what runs just what is missing, so that it can be given to a shell; says how much it is.
fn incomplete(
    origin: &Origin,
    scenario: &Scenario,
    missing: &[Batch],
    output: &Path,
) -> Result<Problem, CliError> {
    let mut shards: BTreeSet<Shard> = BTreeSet::new();
    for batch in missing {
        let owner = |r| origin.shard.of_task(scenario, batch.point, r);
        shards.extend(batch.replications.clone().map(owner));
    }
    for &shard in &shards {
        print(&format!("{}\n", origin.command(shard, scenario.run.replications, output)))?;
    }
    let points: BTreeSet<usize> = missing.iter().map(|batch| batch.point).collect();
    Ok(Problem::Incomplete {
        name: scenario.name.clone(),
        missing: count(missing),
        points: points.len(),
    })
}
