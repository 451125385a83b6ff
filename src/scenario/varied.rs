//! A parameter that an analysis of sensitivity varies: from a share between 0 and 1 to a value.

use serde_json::Value;

use super::path::Path;
use super::schema_kind::takes_whole_numbers;
use super::source::{COMMAND_LINE, Sources};
use super::span::Span;
use super::target::TargetError;
use crate::models::ModelKind;

/// A parameter with the values that it can have.
#[derive(Clone, Debug, PartialEq)]
pub struct Varied {
    /// Its path.
    pub path: String,
    /// Its values as they were written.
    pub text: String,
    values: Values,
}

#[derive(Clone, Debug, PartialEq)]
enum Values {
    /// Everything between two ends.
    Range(Span),
    /// These, in order.
    List(Vec<Value>),
}

impl Varied {
    /// Reads `PATH=LOW..HIGH`, which may end in `:log` and `:whole`, or `PATH=V1,V2,...`, for a
    /// scenario with `components`. A parameter that takes whole numbers only gets no others.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str, components: &[(String, ModelKind)]) -> Result<Self, TargetError> {
        let wrong = |reason: &str| TargetError {
            problem: format!("\"{text}\" is no range of a parameter: {reason}"),
            allowed: "PATH=LOW..HIGH, PATH=LOW..HIGH:log or PATH=V1,V2 for instance \
                      orchagent.pop_batch_size=32..4096:log"
                .to_owned(),
        };
        let (path, written) = text.split_once('=').ok_or_else(|| wrong("it has no \"=\""))?;
        let (path, written) = (path.trim().to_owned(), written.trim().to_owned());
        let origin = Sources::default().add(COMMAND_LINE.to_owned(), "".into(), path.clone());
        let read = Path::read(&path, origin, 0).map_err(|problem| wrong(&problem.text().0))?;
        let component = components.iter().find(|(name, _)| name == read.component());
        let Some((_, kind)) = component else {
            let known: Vec<&str> = components.iter().map(|(name, _)| name.as_str()).collect();
            let (name, known) = (read.component(), known.join(", "));
            return Err(wrong(&format!("there is no component \"{name}\" but {known}")));
        };
        let values = if written.contains("..") {
            let span = Span::read(&written, takes_whole_numbers(*kind, &read));
            let span = span.map_err(|problem| wrong(&problem.text().0))?;
            if span.value(0.0) == span.value(1.0) {
                return Err(wrong("it has one value only"));
            }
            Values::Range(span)
        } else {
            let value = |text: &str| {
                let text = text.trim();
                serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
            };
            let values: Vec<Value> = written.split(',').map(value).collect();
            if values.len() < 2 {
                return Err(wrong("it has one value only"));
            }
            Values::List(values)
        };
        Ok(Self { path, text: written, values })
    }

    /// The value at `share`: 0 is the low end or the first value, 1 the high end or the last.
    #[must_use]
    pub fn at(&self, share: f64) -> Value {
        let share = share.clamp(0.0, 1.0);
        match &self.values {
            Values::Range(span) => span.value(share),
            Values::List(values) => {
                let place = (share * values.len() as f64) as usize;
                values.get(place).or(values.last()).cloned().unwrap_or_default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, shares: &[f64]) -> String {
        let kind = ModelKind::ALL.iter().copied().find(|kind| kind.name() == "orchagent").unwrap();
        match Varied::read(text, &[("o".to_owned(), kind)]) {
            Ok(varied) => Value::Array(shares.iter().map(|s| varied.at(*s)).collect()).to_string(),
            Err(error) => error.problem,
        }
    }

    #[test]
    fn shares_become_values() {
        let thirds = [0.0, 0.5, 1.0];
        assert_eq!(shown("o.bgp.reaction=10 ms..100 ms", &thirds), r#"["10 ms","55 ms","100 ms"]"#);
        assert_eq!(shown("o.costs.batch_variation=0..1", &thirds), "[0,0.5,1]");
        assert_eq!(shown("o.flap.count=1..3", &[0.0, 0.3, 0.4, 0.6, 0.7, 1.0]), "[1,1,2,2,3,3]");
        assert_eq!(shown("o.pop_batch_size=32..4096:log", &[0.0, 1.0]), "[32,4096]");
        assert_eq!(shown("o.era=b1,b2", &[0.0, 0.49, 0.5, 1.0]), r#"["b1","b1","b2","b2"]"#);
    }

    #[test]
    fn what_is_no_range_says_why() {
        for (text, reason) in [
            ("o.b", "no \"=\""),
            ("p.b=1..4", "there is no component \"p\" but o"),
            ("o.b=4..1", "above the last"),
            ("o.b=0..1:log", "starts above 0"),
            ("o.b=7", "one value only"),
            ("o..b=1..2", "is no range of a parameter"),
        ] {
            assert!(shown(text, &[]).contains(reason), "{text}: {}", shown(text, &[]));
        }
    }
}
