//! Figures and targets as the command line writes them: `packet_loss_duration.p99<=2s`; sizes of
//! values.

use serde_json::Value;

use super::expect::{allowed_bound, metric_unit, read_bound};
use super::types::{MetricColumn, Statistic};
use crate::models::Unit;
use crate::quantities::duration::parse_duration;
use crate::quantities::rate::parse_rate;

/// A figure over the replications of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FigureOf {
    /// Index of the metric's column; none for the share of replications that did not converge.
    pub column: Option<usize>,
    /// Which figure over the replications.
    pub statistic: Statistic,
}

/// A bound that a figure must keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The figure.
    pub figure: FigureOf,
    /// True for "at most", false for "at least".
    pub at_most: bool,
    /// The bound, in the metric's unit.
    pub bound: f64,
}

/// What is wrong with the text of a figure or target, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetError {
    /// What is wrong.
    pub problem: String,
    /// What is allowed.
    pub allowed: String,
}

const STATISTICS: [(&str, Statistic); 4] = [
    ("mean", Statistic::Mean),
    ("p50", Statistic::P50),
    ("p95", Statistic::P95),
    ("p99", Statistic::P99),
];
const NOT_CONVERGED: &str = "not_converged";

impl FigureOf {
    /// `statistic` of the metric `column` of `columns`.
    #[must_use]
    pub fn of(column: usize, statistic: Statistic, columns: &[MetricColumn]) -> Self {
        let unit = columns.get(column).map_or(Unit::Count, |column| column.metric.unit);
        Self { column: Some(column), statistic: statistic.of(unit) }
    }

    /// Reads `METRIC` (its mean), `METRIC.STATISTIC` or `not_converged`.
    ///
    /// # Errors
    /// That there is no such metric.
    pub fn read(text: &str, columns: &[MetricColumn]) -> Result<Self, TargetError> {
        let text = text.trim();
        if text == NOT_CONVERGED {
            return Ok(Self { column: None, statistic: Statistic::NotConverged });
        }
        let find = |name: &str| columns.iter().position(|column| column.name == name);
        // A metric's own name may end like a statistic: latency.p99.
        if let Some(column) = find(text) {
            return Ok(Self::of(column, Statistic::Mean, columns));
        }
        let split = text.rsplit_once('.').and_then(|(metric, name)| {
            let (_, statistic) = STATISTICS.into_iter().find(|(known, _)| *known == name)?;
            Some(Self::of(find(metric)?, statistic, columns))
        });
        split.ok_or_else(|| {
            let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
            TargetError {
                problem: format!("\"{text}\" is no figure"),
                allowed: format!(
                    "{NOT_CONVERGED}, or a metric, which means its mean, or a metric with .mean, \
                     .p50, .p95 or .p99; the metrics are {}",
                    names.join(", ")
                ),
            }
        })
    }

    /// Its unit.
    #[must_use]
    pub fn unit(self, columns: &[MetricColumn]) -> Unit {
        let column = self.column.and_then(|column| columns.get(column));
        column.map_or(Unit::Share, |column| column.metric.unit)
    }

    /// What it is, in words: `p99 of packet_loss_duration`.
    #[must_use]
    pub fn text(self, columns: &[MetricColumn]) -> String {
        let name = self.column.and_then(|column| columns.get(column)).map(|c| c.name.as_str());
        let Some(name) = name else { return "share not converged".to_owned() };
        match self.statistic {
            Statistic::P50 => format!("p50 of {name}"),
            Statistic::P95 => format!("p95 of {name}"),
            Statistic::P99 => format!("p99 of {name}"),
            Statistic::Probability => format!("probability of {name}"),
            _ => format!("mean {name}"),
        }
    }

    /// Reads a value in its unit: `2 s`, `0.1 %`, `1500/s`.
    ///
    /// # Errors
    /// That it is none.
    pub fn read_value(self, text: &str, columns: &[MetricColumn]) -> Result<f64, TargetError> {
        let text = text.trim();
        let unit = metric_unit(self.unit(columns));
        let number = text.parse::<serde_json::Number>().map(Value::Number);
        let value = number.unwrap_or_else(|_| Value::from(text));
        read_bound(&value, unit).map_err(|_| TargetError {
            problem: format!("\"{text}\" is no value of the {}", self.text(columns)),
            allowed: allowed_bound(unit).to_owned(),
        })
    }

    /// Reads a figure whose best can be promised: a mean.
    ///
    /// # Errors
    /// That it is none.
    pub fn best(text: &str, columns: &[MetricColumn]) -> Result<Self, TargetError> {
        let figure = Self::read(text, columns)?;
        if matches!(
            figure.statistic,
            Statistic::Mean | Statistic::Probability | Statistic::NotConverged
        ) {
            return Ok(figure);
        }
        Err(TargetError {
            problem: format!("the best {} cannot be promised", figure.text(columns)),
            allowed: "a mean: the probability of choosing right is known for means only".to_owned(),
        })
    }

    /// Reads the least difference that matters.
    ///
    /// # Errors
    /// That it is no value of this figure, or not above 0.
    pub fn read_indifference(
        self,
        text: &str,
        columns: &[MetricColumn],
    ) -> Result<f64, TargetError> {
        let value = self.read_value(text, columns)?;
        if value > 0.0 {
            return Ok(value);
        }
        Err(TargetError {
            problem: format!("an indifference zone of {text}"),
            allowed: "the least difference that matters, above 0".to_owned(),
        })
    }
}

impl Target {
    /// Reads `FIGURE<=VALUE` or `FIGURE>=VALUE`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str, columns: &[MetricColumn]) -> Result<Self, TargetError> {
        let split = |sign: &str| text.split_once(sign);
        let (figure, value, at_most) = match (split("<="), split(">=")) {
            (Some((figure, value)), None) => (figure, value, true),
            (None, Some((figure, value))) => (figure, value, false),
            _ => {
                return Err(TargetError {
                    problem: format!("\"{text}\" is no target"),
                    allowed: "FIGURE<=VALUE or FIGURE>=VALUE, for instance \
                              'packet_loss_duration.p99<=2s'"
                        .to_owned(),
                });
            }
        };
        let figure = FigureOf::read(figure, columns)?;
        let bound = figure.read_value(value, columns)?;
        let share = matches!(figure.unit(columns), Unit::Share | Unit::Probability);
        if share && !(0.0..=1.0).contains(&bound) {
            return Err(TargetError {
                problem: format!("\"{}\" is no share", value.trim()),
                allowed: "0 to 1, or 0 % to 100 %".to_owned(),
            });
        }
        if figure.unit(columns) == Unit::Seconds && bound < 0.0 {
            return Err(TargetError {
                problem: format!("\"{}\" is before the start", value.trim()),
                allowed: "a time of at least 0".to_owned(),
            });
        }
        Ok(Self { figure, at_most, bound })
    }
}

/// The size of a parameter's value: a number, or the amount of a quantity such as `"40 ms"`.
#[must_use]
pub fn magnitude(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => {
            let duration = parse_duration(text).map(|duration| duration.as_seconds());
            duration.ok().or_else(|| parse_rate(text).map(|rate| rate.as_per_second()).ok())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::ModelKind;

    fn columns() -> Vec<MetricColumn> {
        let kind = ModelKind::ALL.iter().copied().find(|kind| kind.name() == "http_pool").unwrap();
        let column = |metric: &crate::models::Metric| MetricColumn {
            name: metric.name.to_owned(),
            component: 0,
            metric: *metric,
            whole: None,
        };
        kind.metrics().iter().map(column).collect()
    }

    #[test]
    fn a_target_has_a_figure_a_sign_and_a_value_with_its_unit() {
        let columns = columns();
        let read = |text: &str| Target::read(text, &columns).unwrap();
        let latency = columns.iter().position(|column| column.name == "latency.p99");
        let target = read("latency.p99.p95 <= 20 ms");
        assert_eq!(target.figure, FigureOf { column: latency, statistic: Statistic::P95 });
        assert!(target.at_most && (target.bound - 0.02).abs() < 1e-12);
        assert_eq!(read("latency.p99>=2s").figure.statistic, Statistic::Mean);
        assert!((read("not_converged<=0.1%").bound - 0.001).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_target_says_what_is() {
        let columns = columns();
        let wrong = |text: &str| Target::read(text, &columns).unwrap_err();
        assert!(wrong("latency.p99=2s").allowed.contains("FIGURE<=VALUE"));
        assert!(wrong("speed<=2s").allowed.contains("latency.p99"));
        assert!(wrong("latency.p99<=2").allowed.contains("\"12 s\""));
        assert!(wrong("not_converged<=2 s").problem.contains("2 s"));
    }
}
