//! Which value of a parameter meets a target, with all that the answer rests on.

mod best;
mod csv;
mod json;
mod text;

pub use best::{BestReport, best_document, best_json};
pub use csv::{best_csv, solve_csv};
pub(super) use json::estimate as estimate_json;
pub use json::solve_json;
pub use text::solve_document;

use crate::experiment::solve::{Goal, Meets, Settings, Solution};
use crate::models::Unit;
use crate::scenario::MetricColumn;
use crate::scenario::target::Target;

use super::number::Scale;

/// What a search is reported from.
#[derive(Clone, Debug)]
pub struct SolveReport<'r> {
    /// The scenario's name.
    pub scenario: &'r str,
    /// The configuration that the search starts from; none for the components as they stand.
    pub configuration: Option<&'r str>,
    /// Columns of the scenario.
    pub columns: &'r [MetricColumn],
    /// What must hold.
    pub target: Target,
    /// Which value is wanted.
    pub goal: Goal,
    /// Path of the parameter.
    pub parameter: &'r str,
    /// How many replications, how sure.
    pub settings: Settings,
    /// Path of the other parameter of a frontier.
    pub along: Option<&'r str>,
    /// The searches: one, or one for each value of the other parameter.
    pub searches: Vec<Searched<'r>>,
}

/// One search.
#[derive(Clone, Debug)]
pub struct Searched<'r> {
    /// The value of the other parameter of a frontier.
    pub along: Option<String>,
    /// The values of the parameter, ascending.
    pub values: Vec<String>,
    /// What came out.
    pub solution: &'r Solution,
}

impl Searched<'_> {
    fn value(&self, index: usize) -> &str {
        self.values.get(index).map_or("?", String::as_str)
    }
}

impl SolveReport<'_> {
    fn unit(&self) -> Unit {
        self.target.figure.unit(self.columns)
    }

    /// The unit for all figures of one search.
    fn scale(&self, solution: &Solution) -> Scale {
        let figures = solution.probes.iter().map(|probe| probe.estimate.value);
        Scale::for_values(self.unit(), figures.chain([self.target.bound]))
    }

    const fn wanted(&self) -> &'static str {
        match self.goal {
            Goal::Largest => "largest",
            Goal::Smallest => "smallest",
        }
    }
}

const fn meets_text(meets: Meets) -> &'static str {
    match meets {
        Meets::Yes => "yes",
        Meets::No => "no",
        Meets::Undecided => "undecided",
    }
}

/// A share in per cent, with as many digits as it takes to tell it from 100 %.
fn percent(share: f64) -> String {
    let missing = ((1.0 - share) * 100.0).max(1e-12);
    let decimals = (1.0 - missing.log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{:.decimals$}", share * 100.0);
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    };
    format!("{text} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confidence_near_one_does_not_look_like_one() {
        assert_eq!(percent(0.95), "95 %");
        assert_eq!(percent(0.999), "99.9 %");
        assert_eq!(percent(1.0 - 0.05 / 4065.0 / 7.0), "99.99982 %");
    }
}
