//! The error of a scenario that cannot be loaded: all its problems, shown with their lines.

use std::fmt;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, SourceCode, SourceSpan};

use super::problem::{Located, Problem, Problems, visible};
use super::source::{SourceText, Sources};

/// All that is wrong with a scenario. Show it with miette.
#[derive(Debug)]
pub struct LoadError {
    file: String,
    problems: Vec<ProblemReport>,
    omitted: usize,
}

/// One problem with the text it is in.
#[derive(Debug)]
pub struct ProblemReport {
    located: Located,
    place: String,
    source: Option<(Arc<SourceText>, SourceSpan)>,
    earlier: Option<SourceSpan>,
}

impl LoadError {
    pub(super) fn new(file: String, problems: Problems, sources: &Sources) -> Self {
        let (found, omitted) = problems.into_parts();
        let problems = found.into_iter().map(|located| ProblemReport::new(located, sources));
        Self { file, problems: problems.collect(), omitted }
    }

    /// The problems, in the order in which they were found.
    #[must_use]
    pub fn problems(&self) -> &[ProblemReport] {
        &self.problems
    }
}

impl ProblemReport {
    fn new(located: Located, sources: &Sources) -> Self {
        let source = located.origin.and_then(|origin| {
            let text = sources.text_of(origin)?;
            let span = text.label(origin);
            Some((text, span))
        });
        let earlier = match &located.problem {
            Problem::DuplicateKey { first, .. } => {
                sources.text_of(*first).map(|text| text.label(*first))
            }
            _ => None,
        };
        let place = located.origin.map(|origin| sources.place(origin)).unwrap_or_default();
        Self { located, place, source, earlier }
    }

    /// What is wrong, with the facts.
    #[must_use]
    pub const fn problem(&self) -> &Problem {
        &self.located.problem
    }

    /// The path in the scenario, for instance `components.orchagent.pop_batch_size`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.located.path
    }

    /// `file:line:column`; empty if it concerns no text.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// `path: what is wrong`.
    #[must_use]
    pub fn message(&self) -> String {
        let (problem, _) = self.located.problem.text();
        visible(&match self.located.path.as_str() {
            "" => problem,
            path => format!("{path}: {problem}"),
        })
    }

    /// What is allowed, or what to do.
    #[must_use]
    pub fn help_text(&self) -> String {
        visible(&self.located.problem.text().1)
    }
}

impl fmt::Display for ProblemReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message())
    }
}

impl std::error::Error for ProblemReport {}

impl Diagnostic for ProblemReport {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.help_text()))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|(text, _)| &**text as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let (_, span) = self.source.as_ref()?;
        let here = LabeledSpan::new_primary_with_span(Some("here".to_owned()), *span);
        let earlier =
            self.earlier.map(|span| LabeledSpan::new_with_span(Some("first".to_owned()), span));
        Some(Box::new(std::iter::once(here).chain(earlier)))
    }
}

/// How many problems; miette shows each of them.
impl fmt::Display for LoadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.len() + self.omitted {
            1 => write!(formatter, "{}: 1 problem", self.file),
            count if self.omitted > 0 => write!(
                formatter,
                "{}: {count} problems, of which the first {} are shown",
                self.file,
                self.problems.len()
            ),
            count => write!(formatter, "{}: {count} problems", self.file),
        }
    }
}

impl std::error::Error for LoadError {}

impl Diagnostic for LoadError {
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.problems.iter().map(|problem| problem as &dyn Diagnostic)))
    }
}
