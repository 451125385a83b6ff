//! From a file and a command line to a [`Scenario`].

use std::collections::HashSet;
use std::path::Path;

use super::design::{Design, part};
use super::error::LoadError;
use super::expect::{Known, find_column, read_expectations};
use super::extends::read_with_extended;
use super::file::{ConnectionEntry, PrecisionEntry, PrecisionStatistic, RunEntry, schema_ref};
use super::node::{Node, NodeValue, clip};
use super::overrides::{LoadOptions, RUN, SWEEP_PARTS, apply, component_names, model_of};
use super::points::PointBuilder;
use super::problem::{Problem, Problems};
use super::question::Asked;
use super::recorded::read_recorded;
use super::source::Sources;
use super::types::{Precision, RunSettings, Scenario, Statistic};
use super::validate::Validator;
use crate::models::{Connection, ModelKind, SignalDefinition};

/// Most components of a scenario.
const MAX_COMPONENTS: usize = 1000;

/// Reads, merges, overrides and validates the scenario in `path`.
///
/// # Errors
/// Everything that is wrong with it, at once.
pub fn load(path: &Path, options: &LoadOptions) -> Result<Scenario, Box<LoadError>> {
    let mut sources = Sources::of(options.files.clone());
    let mut problems = Problems::default();
    let tree = read_with_extended(path, &mut sources, &mut problems);
    let scenario = tree.and_then(|tree| build(path, tree, options, &mut sources, &mut problems));
    match scenario {
        Some(scenario) if problems.is_empty() => Ok(scenario),
        _ => Err(Box::new(LoadError::new(path.display().to_string(), problems, &sources))),
    }
}

fn build(
    path: &Path,
    mut tree: Node,
    options: &LoadOptions,
    sources: &mut Sources,
    problems: &mut Problems,
) -> Option<Scenario> {
    let mut warnings = Vec::new();
    let original = tree.clone();
    apply(&mut tree, options, sources, problems, &mut warnings);
    Validator::new(schema_ref()).check(schema_ref(), &tree, "", problems);
    if !matches!(tree.value, NodeValue::Object(_)) {
        return None;
    }
    let name = check_names(&tree, problems);
    let components: Vec<(String, ModelKind)> = tree
        .get("components")
        .map_or(&[][..], Node::entries)
        .iter()
        .filter_map(|entry| Some((entry.key.clone(), model_of(&entry.value)?)))
        .collect();
    let (connections, connection_names) = read_connections(&tree, &components, problems);
    let run = tree.get(RUN).map_or_else(|| Some(RunEntry::default()), part);
    let run = run.unwrap_or_default();
    let mut design = Design::read(&tree, run.seed, options.max_points, problems);
    let limit = options.max_points as u64;
    let mut all_points = true;
    if design.count().is_none_or(|count| count > limit) {
        let origin = tree.get("sweep").or_else(|| tree.get("configurations")).map(|n| n.origin);
        let points = design.count();
        let option = options.vary_options.is_empty();
        problems.add(Problem::TooManyPoints { points, limit, option }, "sweep", origin);
        // Whatever does not need the points is checked none the less.
        all_points = false;
        design.axes.clear();
        design.configurations.truncate(options.max_points);
    }
    design.apply_conditions(&tree, problems);
    warnings.extend(without_sweep(&tree, &original, &design, options));
    if run.horizon.is_zero() {
        let origin = tree.get(RUN).and_then(|run| run.get("horizon")).map(|node| node.origin);
        let (value, allowed) = ("0 s".to_owned(), "above 0 s".to_owned());
        problems.add(Problem::OutOfRange { value, allowed }, "run.horizon", origin);
    }
    refuse_odd_pairs(&tree, &run, sources, problems);
    refuse_low_cap(&tree, &run, sources, problems);
    let mut builder = PointBuilder::new(&tree, connection_names, run.horizon, sources, problems);
    let points = builder.build(&design);
    let recorded = builder.recorded_files();
    warnings.extend(builder.into_warnings());
    let mut scenario = Scenario {
        name: name.unwrap_or_default(),
        description: text_at(&tree, "description"),
        sources: tree.get("sources").and_then(part).unwrap_or_default(),
        path: path.to_owned(),
        files: sources.files().iter().cloned().chain(recorded).collect(),
        components,
        connections,
        points,
        cut_points: design.cut_points(),
        coincident_points: design.coincident,
        run: run_settings(run),
        expectations: Vec::new(),
        solve: None,
        sensitivity: None,
        recorded: Vec::new(),
        warnings: Vec::new(),
        resolved: tree.to_json(),
    };
    let columns = scenario.columns();
    // Of a component whose model is not known its metrics are not, either.
    let named = tree.get("components").map_or(0, |components| components.entries().len());
    let all_models_known = named == scenario.components.len() && named > 0;
    let removed = removed_by(&original, options);
    let removed = |name: &str| !all_points || removed(name);
    let known = Known {
        points: design.points().map(|point| point.name).collect(),
        columns: &columns,
        removed: &removed,
        complete: all_models_known,
        sources,
    };
    scenario.expectations = read_expectations(&tree, &known, problems, &mut warnings);
    let components = scenario.components.clone();
    let asked = Asked {
        tree: &tree,
        original: &original,
        components: &components,
        columns: &columns,
        design: &design,
        horizon: scenario.run.horizon,
        sources,
    };
    scenario.solve = asked.solve(problems, &mut warnings);
    scenario.sensitivity = asked.sensitivity(problems, &mut warnings);
    let recordings = read_recorded(&tree, &known, problems);
    scenario.recorded = recordings.recorded;
    scenario.files.extend(recordings.files);
    let altered = |text: &&String| !text.trim_start().starts_with("run.");
    if !scenario.expectations.is_empty() && options.set.iter().any(|text| altered(&text)) {
        let text = "the expectations were made for the file as it is, without --set";
        warnings.push(text.to_owned());
    }
    settle_precision_metric(&mut scenario);
    if all_models_known {
        check_run_metrics(&tree, &scenario, problems);
    }
    scenario.warnings = warnings;
    Some(scenario)
}

/// What would say which points of a sweep there are, where nothing is swept; nothing of a sweep that
/// the command line has taken away.
fn without_sweep(
    tree: &Node,
    original: &Node,
    design: &Design,
    options: &LoadOptions,
) -> Vec<String> {
    let swept =
        SWEEP_PARTS.iter().any(|part| *part != "sweep_from" && original.get(part).is_some());
    if !design.axes.is_empty() || (swept && options.conditions.is_empty()) {
        return Vec::new();
    }
    // The command line's --configuration says where a sweep would begin, if there were one.
    let written = |key: &str| if key == "sweep_from" { original } else { tree };
    let given = |key: &&&str| written(key).get(key).is_some_and(|list| !list.items().is_empty());
    let unused = ["where", "sweep_from"];
    let unused = unused.iter().filter(given);
    unused.map(|key| format!("\"{key}\" has no effect: nothing is swept")).collect()
}

fn text_at(tree: &Node, key: &str) -> String {
    tree.get(key).and_then(Node::as_text).unwrap_or_default().to_owned()
}

/// The most replications must not be fewer than the fewest, unless the command line asks for a
/// number that the file does not.
fn refuse_low_cap(tree: &Node, run: &RunEntry, sources: &Sources, problems: &mut Problems) {
    let Some(precision) = &run.precision else { return };
    let fewest = tree.nearest([RUN, "replications"].into_iter()).origin;
    if precision.max_replications < run.replications && sources.argument(fewest).is_none() {
        let origin = tree.nearest([RUN, "precision", "max_replications"].into_iter()).origin;
        let allowed = format!("at least {}, as run.replications", run.replications);
        let problem =
            Problem::OutOfRange { value: precision.max_replications.to_string(), allowed };
        problems.add(problem, "run.precision.max_replications", Some(origin));
    }
}

/// Antithetic replications come in pairs.
fn refuse_odd_pairs(tree: &Node, run: &RunEntry, sources: &Sources, problems: &mut Problems) {
    if !run.antithetic {
        return;
    }
    let pairs = tree.nearest([RUN, "antithetic"].into_iter()).origin;
    let place = |keys: [&str; 3]| {
        let number = tree.nearest(keys.into_iter()).origin;
        // Where the command line asks for pairs, that is what is new.
        let new = |origin| sources.argument(origin).is_some();
        if new(pairs) && !new(number) { pairs } else { number }
    };
    let mut refuse = |value: u64, path: &str, origin| {
        if !value.is_multiple_of(2) {
            let allowed = "an even number, as antithetic replications come in pairs".to_owned();
            let problem = Problem::OutOfRange { value: value.to_string(), allowed };
            problems.add(problem, path, Some(origin));
        }
    };
    refuse(run.replications, "run.replications", place([RUN, "replications", ""]));
    if let Some(precision) = &run.precision {
        let most = place([RUN, "precision", "max_replications"]);
        refuse(precision.max_replications, "run.precision.max_replications", most);
    }
}

fn run_settings(run: RunEntry) -> RunSettings {
    RunSettings {
        seed: run.seed,
        replications: run.replications,
        seeding: run.seeding,
        antithetic: run.antithetic,
        precision: run.precision.map(precision),
        horizon: run.horizon,
        event_budget: run.event_budget,
        confidence: run.confidence,
        metrics: run.metrics,
    }
}

fn precision(entry: PrecisionEntry) -> Precision {
    let statistic = match entry.statistic {
        PrecisionStatistic::Mean => Statistic::Mean,
        PrecisionStatistic::P50 => Statistic::P50,
        PrecisionStatistic::P95 => Statistic::P95,
        PrecisionStatistic::P99 => Statistic::P99,
    };
    let PrecisionEntry { metric, relative, max_replications, .. } = entry;
    Precision { metric, statistic, relative, max_replications }
}

/// Whether a point was there before the command line removed it; of a file with too many points to
/// know, any may have been.
fn removed_by(original: &Node, options: &LoadOptions) -> impl Fn(&str) -> bool {
    let mut names: HashSet<String> = HashSet::new();
    let mut too_many = false;
    if options.change_points() {
        let run: RunEntry = original.get(RUN).and_then(part).unwrap_or_default();
        let unseen = &mut Problems::default();
        // The command line limits the points that are run, not those of the file.
        let limit = options.max_points.max(LoadOptions::default().max_points);
        let mut design = Design::read(original, run.seed, limit, unseen);
        too_many = design.count().is_none_or(|count| count > limit as u64);
        if !too_many {
            design.apply_conditions(original, unseen);
            names = design.points().map(|point| point.name).collect();
        }
    }
    move |name: &str| too_many || names.contains(name)
}

/// The scenario's name, if it can be one; checks the components' names too.
fn check_names(tree: &Node, problems: &mut Problems) -> Option<String> {
    const NAME: &str = "letters, digits, -, _ and ., not starting with a dot";
    const COMPONENT: &str = "letters, digits, - and _, and not \"run\"";
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let components = tree.get("components");
    match components.map(|node| (node, node.entries())) {
        Some((node, [])) if matches!(node.value, NodeValue::Object(_)) => {
            let allowed = "at least one component".to_owned();
            let problem = Problem::WrongLength { length: 0, allowed };
            problems.add(problem, "components", Some(node.origin));
        }
        Some((node, entries)) if entries.len() > MAX_COMPONENTS => {
            let allowed = format!("at most {MAX_COMPONENTS} components");
            let problem = Problem::WrongLength { length: entries.len(), allowed };
            problems.add(problem, "components", Some(node.origin));
        }
        Some((_, entries)) => {
            for entry in entries {
                let name = entry.key.clone();
                if name.is_empty() || !name.chars().all(plain) || name == RUN {
                    let problem = Problem::BadName { what: "component", name, allowed: COMPONENT };
                    problems.add(problem, "components", Some(entry.key_origin));
                }
            }
        }
        None => {
            let allowed =
                "{ \"name\": { \"model\": ... } }; `convsim describe` lists the models".to_owned();
            let problem = Problem::MissingKey { key: "components".to_owned(), allowed };
            problems.add(problem, "", Some(tree.origin));
        }
    }
    let given = tree.get("name").filter(|node| !matches!(node.value, NodeValue::Null));
    let Some(node) = given else {
        let problem = Problem::MissingKey { key: "name".to_owned(), allowed: NAME.to_owned() };
        problems.add(problem, "", Some(tree.origin));
        return None;
    };
    let name = node.as_text()?.to_owned();
    if !name.chars().all(|c| plain(c) || c == '.') || name.starts_with('.') {
        let problem = Problem::BadName { what: "scenario", name: clip(&name, 100), allowed: NAME };
        problems.add(problem, "name", Some(node.origin));
    }
    Some(name)
}

/// The connections by index and by name.
fn read_connections(
    tree: &Node,
    components: &[(String, ModelKind)],
    problems: &mut Problems,
) -> (Vec<Connection>, Vec<(String, String)>) {
    let mut connections = Vec::new();
    let mut names = Vec::new();
    let items = tree.get("connections").map_or(&[][..], Node::items);
    for (index, item) in items.iter().enumerate() {
        let Some(ConnectionEntry { from, to }) = part(item) else { continue };
        let mut end =
            |key: &str, text: &str, signals: fn(ModelKind) -> &'static [SignalDefinition]| {
                let origin = item.get(key).map_or(item.origin, |node| node.origin);
                let path = format!("connections[{index}].{key}");
                read_end(tree, components, text, signals).map_err(|problem| {
                    problems.add(problem, &path, Some(origin));
                })
            };
        let sender = end("from", &from, ModelKind::outputs);
        let receiver = end("to", &to, ModelKind::inputs);
        if let (Ok(Some((sender, output))), Ok(Some((receiver, input)))) = (sender, receiver) {
            connections.push(Connection { sender, output, receiver, input });
            names.push((from, to));
        }
    }
    (connections, names)
}

/// One end of a connection; nothing if the component's model, which is reported elsewhere, is not
/// known.
fn read_end(
    tree: &Node,
    components: &[(String, ModelKind)],
    text: &str,
    signals: fn(ModelKind) -> &'static [SignalDefinition],
) -> Result<Option<(u16, u16)>, Problem> {
    let (component, signal) = text.split_once('.').unwrap_or((text, ""));
    let all = component_names(tree);
    if !all.iter().any(|name| name == component) {
        let name = component.to_owned();
        return Err(Problem::UnknownName { what: "component", name, known: all });
    }
    let Some(index) = components.iter().position(|(name, _)| name == component) else {
        return Ok(None);
    };
    let signals = signals(components[index].1);
    let found = signals.iter().position(|definition| definition.name == signal);
    match found {
        Some(at) => Ok(Some((index as u16, at as u16))),
        None => {
            let known = signals.iter().map(|s| format!("{component}.{}", s.name)).collect();
            let name = text.to_owned();
            Err(Problem::UnknownName { what: "signal", name, known })
        }
    }
}

/// `latency.p95` may be the 95th percentile of `latency` or a metric of that name: it is what there is.
fn settle_precision_metric(scenario: &mut Scenario) {
    let columns = scenario.columns();
    let Some(precision) = &mut scenario.run.precision else { return };
    let statistic = match precision.statistic {
        Statistic::P50 => "p50",
        Statistic::P95 => "p95",
        Statistic::P99 => "p99",
        _ => "mean",
    };
    let longer = format!("{}.{statistic}", precision.metric);
    let known = |name: &str| find_column(&columns, name).is_some();
    if !known(&precision.metric) && known(&longer) {
        precision.metric = longer;
        precision.statistic = Statistic::Mean;
    }
}

fn check_run_metrics(tree: &Node, scenario: &Scenario, problems: &mut Problems) {
    let columns = scenario.columns();
    let Some(run) = tree.get(RUN) else { return };
    let listed = run.get("metrics").map_or(&[][..], Node::items).iter().enumerate();
    let listed = listed.map(|(index, item)| (format!("run.metrics[{index}]"), item));
    let settled = scenario.run.precision.as_ref().map(|precision| precision.metric.as_str());
    let settled = settled.is_some_and(|name| find_column(&columns, name).is_some());
    let precise = run.get("precision").and_then(|precision| precision.get("metric"));
    let precise = precise.filter(|_| !settled);
    let precise = precise.map(|item| ("run.precision.metric".to_owned(), item));
    let mut seen = HashSet::new();
    for (path, item) in listed.chain(precise) {
        let Some(name) = item.as_text() else { continue };
        if !seen.insert(name) && path.starts_with("run.metrics") {
            let problem = Problem::RepeatedValue { value: format!("\"{}\"", clip(name, 60)) };
            problems.add(problem, &path, Some(item.origin));
        }
        if find_column(&columns, name).is_none() {
            let known = columns.iter().map(|column| column.name.clone()).collect();
            let name = name.to_owned();
            let problem = Problem::UnknownName { what: "metric", name, known };
            problems.add(problem, &path, Some(item.origin));
        }
    }
}
