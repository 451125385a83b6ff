//! Reading and checking the two blocks.

use serde_json::Value;

use super::entry::{SensitivityEntry, SolveEntry};
use super::{MOST_VALUES, SensitivityQuestion, SolveGoal, SolveQuestion};
use crate::engine::SimDuration;
use crate::models::ModelKind;
use crate::scenario::axis::Limit;
use crate::scenario::design::axes::{read_path, read_values};
use crate::scenario::design::{Configuration, Design, PointDesign, part};
use crate::scenario::node::{Entry, Node};
use crate::scenario::overrides::{component_names, configuration_names};
use crate::scenario::path::Path;
use crate::scenario::points::PointBuilder;
use crate::scenario::problem::{Problem, Problems};
use crate::scenario::source::Sources;
use crate::scenario::target::{FigureOf, Target, TargetError, magnitude};
use crate::scenario::types::MetricColumn;
use crate::scenario::varied::Varied;

/// What questions can refer to.
pub struct Asked<'a> {
    /// The scenario as it is run.
    pub tree: &'a Node,
    /// The scenario as it is in the file, with all its configurations.
    pub original: &'a Node,
    /// Its components.
    pub components: &'a [(String, ModelKind)],
    /// Its metrics.
    pub columns: &'a [MetricColumn],
    /// Its configurations.
    pub design: &'a Design,
    /// Where a replication ends.
    pub horizon: SimDuration,
    /// Where the texts are.
    pub sources: &'a Sources,
}

impl Asked<'_> {
    /// Whether a question of an extended file is about a configuration that the extending file does
    /// not have; it is then no question of that.
    fn is_left_behind(&self, key: &str, names: Option<&Node>, warnings: &mut Vec<String>) -> bool {
        let Some(names) = names.filter(|names| !names.origin.is_in_text_of(self.tree.origin))
        else {
            return false;
        };
        let known = configuration_names(self.original);
        let items =
            if names.items().is_empty() { std::slice::from_ref(names) } else { names.items() };
        let mut missing = items.iter().filter_map(Node::as_text);
        let Some(name) = missing.find(|name| !known.iter().any(|known| known == name)) else {
            return false;
        };
        warnings.push(format!(
            "{}: \"{key}\" is left out: there is no configuration \"{name}\" here",
            self.sources.line(names.origin)
        ));
        true
    }

    /// What the file asks `solve`, if anything. All that is wrong with it goes to `problems`.
    pub fn solve(
        &self,
        problems: &mut Problems,
        warnings: &mut Vec<String>,
    ) -> Option<SolveQuestion> {
        let node = self.tree.get("solve")?;
        if self.is_left_behind("solve", node.get("configurations"), warnings) {
            return None;
        }
        let entry: SolveEntry = part(node)?;
        let mut reader = Reader { asked: self, node, at: "solve", problems };
        let parameter = reader.parameter("parameter", entry.goal);
        let along = reader.parameter("along", entry.goal);
        reader.keys_of_goal(entry.goal);
        reader.not_twice(parameter.as_ref(), along.as_ref());
        let target = entry.target.as_ref();
        if let Some(Err(error)) = target.map(|text| Target::read(text, self.columns)) {
            reader.wrong("target", error);
        }
        reader.best(&entry);
        reader.replications(&entry);
        let configurations = entry.configurations.unwrap_or_default();
        if entry.goal.has_target() && configurations.len() > 1 {
            let problem = "several configurations to start from".to_owned();
            let allowed = "one; \"along\" answers for several values of a parameter".to_owned();
            reader.problem("configurations", Problem::BadQuestion { problem, allowed });
        }
        configurations.iter().for_each(|name| reader.configuration("configurations", name));
        let from = configurations.first().filter(|_| configurations.len() == 1);
        for (path, values) in [&parameter, &along].into_iter().flatten() {
            let ends = [values.first(), values.last()];
            reader.possible(from, path, ends.into_iter().flatten());
        }
        let written = |parameter: Option<(Path, Vec<Node>)>, key: &str| {
            let (path, _) = parameter?;
            Some(format!("{path}={}", values_text(node.get(key)?.get("values")?)))
        };
        Some(SolveQuestion {
            goal: entry.goal,
            parameter: written(parameter, "parameter"),
            target: entry.target,
            metric: entry.metric,
            indifference: entry.indifference.as_ref().map(plain),
            along: written(along, "along"),
            configurations,
            confidence: entry.confidence,
            replications: entry.replications,
            max_replications: entry.max_replications,
        })
    }

    /// What the file asks `sensitivity`, if anything. All that is wrong with it goes to `problems`.
    pub fn sensitivity(
        &self,
        problems: &mut Problems,
        warnings: &mut Vec<String>,
    ) -> Option<SensitivityQuestion> {
        let node = self.tree.get("sensitivity")?;
        if self.is_left_behind("sensitivity", node.get("configuration"), warnings) {
            return None;
        }
        let entry: SensitivityEntry = part(node)?;
        let mut reader = Reader { asked: self, node, at: "sensitivity", problems };
        let mut vary = Vec::new();
        for parameter in node.get("vary").map_or(&[][..], Node::entries) {
            let text = format!("{}={}", parameter.key, values_text(&parameter.value));
            match Varied::read(&text, self.components) {
                Ok(varied) => {
                    let component = component_names(self.tree);
                    let path =
                        read_path(parameter, &component, "sensitivity.vary", reader.problems);
                    let place = |share| Node::from_json(&varied.at(share), parameter.value.origin);
                    let ends = [place(0.0), place(1.0)];
                    if let Some(path) = path {
                        reader.possible(entry.configuration.as_ref(), &path, ends.iter());
                    }
                }
                Err(TargetError { problem, allowed }) => {
                    let at = format!("sensitivity.vary.{}", parameter.key);
                    let problem = Problem::BadQuestion { problem, allowed };
                    reader.problems.add(problem, &at, Some(parameter.value.origin));
                }
            }
            vary.push(text);
        }
        if let Some(name) = &entry.configuration {
            reader.configuration("configuration", name);
        }
        let metrics = entry.metrics.unwrap_or_default();
        for text in &metrics {
            match FigureOf::read(text, self.columns) {
                Err(error) => reader.wrong("metrics", error),
                Ok(figure) if figure.column.is_none() => {
                    let problem = format!("{text} is no metric");
                    let allowed = "a metric; \"solve\" knows not_converged".to_owned();
                    reader.problem("metrics", Problem::BadQuestion { problem, allowed });
                }
                Ok(_) => {}
            }
        }
        Some(SensitivityQuestion {
            vary,
            method: entry.method,
            metrics,
            configuration: entry.configuration,
            trajectories: entry.trajectories,
            samples: entry.samples,
            replications: entry.replications,
        })
    }
}

struct Reader<'a> {
    asked: &'a Asked<'a>,
    node: &'a Node,
    at: &'static str,
    problems: &'a mut Problems,
}

impl Reader<'_> {
    /// The path and the values at `key`; for a target they must have an order.
    fn parameter(&mut self, key: &str, goal: SolveGoal) -> Option<(Path, Vec<Node>)> {
        let node = self.node.get(key)?;
        let (path, values) = (node.get("path")?, node.get("values")?);
        let entry = Entry {
            key: path.as_text()?.to_owned(),
            key_origin: path.origin,
            value: values.clone(),
        };
        let names = component_names(self.asked.tree);
        let at = format!("{}.{key}", self.at);
        let (path, values) =
            read_values(&entry, &names, &at, Limit::values(MOST_VALUES), self.problems)?;
        let unordered = values.iter().find(|value| magnitude(&value.to_json()).is_none());
        if let Some(value) = unordered.filter(|_| goal.has_target() && key == "parameter") {
            let problem = format!("{} is neither a number nor a quantity", value.shown(60));
            let allowed = "numbers, durations or rates; minimise and maximise choose from a list \
                           of anything"
                .to_owned();
            let problem = Problem::BadQuestion { problem, allowed };
            self.problems.add(problem, &format!("{at}.values"), Some(value.origin));
        }
        Some((path, values))
    }

    /// The two parameters must not be the same.
    fn not_twice(
        &mut self,
        parameter: Option<&(Path, Vec<Node>)>,
        along: Option<&(Path, Vec<Node>)>,
    ) {
        if let (Some((path, _)), Some((other, _))) = (parameter, along)
            && path.to_string() == other.to_string()
        {
            self.problem("along", Problem::VariedTwice { path: path.to_string() });
        }
    }

    /// What a goal needs must be there, and what it has no use for must not.
    fn keys_of_goal(&mut self, goal: SolveGoal) {
        let (needed, useless): (&[&str], &[&str]) = if goal.has_target() {
            (&["parameter", "target"], &["metric", "indifference"])
        } else {
            (&["metric", "indifference"], &["target", "along"])
        };
        let given = |node: &Node, key: &str| {
            node.get(key).is_some_and(|value| !matches!(value.to_json(), Value::Null))
        };
        for &key in needed {
            if !given(self.node, key) {
                let allowed =
                    format!("\"goal\": \"{}\" needs {}", goal.name(), needed.join(" and "));
                let problem = Problem::MissingKey { key: key.to_owned(), allowed };
                self.problems.add(problem, self.at, Some(self.node.origin));
            }
        }
        for &key in useless {
            if given(self.node, key) {
                let problem = format!("\"goal\": \"{}\" has no {key}", goal.name());
                let allowed = format!("{} beside it", needed.join(" and "));
                self.problem(key, Problem::BadQuestion { problem, allowed });
            }
        }
    }

    /// The figure of a selection and the difference that matters.
    fn best(&mut self, entry: &SolveEntry) {
        let columns = self.asked.columns;
        let Some(metric) = entry.metric.as_ref().filter(|_| !entry.goal.has_target()) else {
            return;
        };
        let figure = match FigureOf::best(metric, columns) {
            Ok(figure) => figure,
            Err(error) => return self.wrong("metric", error),
        };
        if let Some(text) = entry.indifference.as_ref().map(plain)
            && let Err(error) = figure.read_indifference(&text, columns)
        {
            self.wrong("indifference", error);
        }
    }

    /// The most replications must not be fewer than the fewest.
    fn replications(&mut self, entry: &SolveEntry) {
        if let (Some(fewest), Some(most)) = (entry.replications, entry.max_replications)
            && fewest > most
        {
            let allowed = format!("at least {fewest}, as replications");
            let value = most.to_string();
            self.problem("max_replications", Problem::OutOfRange { value, allowed });
        }
    }

    /// Whether the file has a configuration of this name.
    fn configuration(&mut self, key: &str, name: &String) {
        let known = configuration_names(self.asked.original);
        if !known.contains(name) {
            let (what, name) = ("configuration", name.clone());
            self.problem(key, Problem::UnknownName { what, name, known });
        }
    }

    /// Whether the models accept these values.
    fn possible<'n>(
        &mut self,
        from: Option<&String>,
        path: &Path,
        values: impl Iterator<Item = &'n Node>,
    ) {
        let Asked { tree, design, horizon, sources, .. } = *self.asked;
        let configurations = &design.configurations;
        let named = |configuration: &&Configuration| Some(&configuration.name) == from;
        let configuration = configurations.iter().find(named);
        let mut builder = PointBuilder::new(tree, Vec::new(), horizon, sources, self.problems);
        for value in values {
            let name = format!("{path}={}", plain(&value.to_json()));
            builder.check(&PointDesign { name, configuration, axes: vec![(path, value)] });
        }
    }

    fn wrong(&mut self, key: &str, TargetError { problem, allowed }: TargetError) {
        self.problem(key, Problem::BadQuestion { problem, allowed });
    }

    fn problem(&mut self, key: &str, problem: Problem) {
        let origin = self.node.get(key).map_or(self.node.origin, |value| value.origin);
        self.problems.add(problem, &format!("{}.{key}", self.at), Some(origin));
    }
}

/// Values as the command line writes them: a range, or items with commas in between.
fn values_text(node: &Node) -> String {
    match node.as_text() {
        Some(text) => text.to_owned(),
        None => {
            let items: Vec<String> = node.items().iter().map(|v| v.to_json().to_string()).collect();
            items.join(",")
        }
    }
}

/// A text without its quotation marks.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
