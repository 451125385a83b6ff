//! Durations that vary: what a user writes.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::duration::parse_duration;
use super::sampler::DurationSampler;
use crate::engine::SimDuration;

/// `format` of a distribution in the JSON Schema.
pub const DISTRIBUTION_FORMAT: &str = "convsim-duration-distribution";
/// What a distribution looks like, for error texts.
pub const DISTRIBUTION_ALLOWED: &str = "a duration such as \"40 ms\", or an object such as \
     { \"distribution\": \"lognormal\", \"mean\": \"2 ms\", \"cv\": 0.3 } with one of constant, \
     exponential, uniform, normal, lognormal, gamma, erlang, weibull, pareto, triangular, mixture, \
     empirical";

/// Most parts of a mixture, and most levels of mixtures within mixtures.
const MAX_PARTS: usize = 64;
/// Shapes and stage counts beyond this are constants in all but name.
const MAX_SHAPE: f64 = 1e6;

/// A duration that varies. A plain text such as `"40 ms"` is a constant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "distribution", rename_all = "snake_case")]
pub enum DurationDistribution {
    /// Always the same.
    Constant {
        /// The value.
        value: SimDuration,
    },
    /// Memoryless.
    Exponential {
        /// The mean, above 0.
        mean: SimDuration,
    },
    /// Equally likely anywhere in a range.
    Uniform {
        /// The least value.
        min: SimDuration,
        /// The greatest value, not below `min`.
        max: SimDuration,
    },
    /// Normal, redrawn while negative.
    Normal {
        /// The mean before truncation at 0.
        mean: SimDuration,
        /// Standard deviation over mean before truncation, at most 2.
        cv: f64,
    },
    /// The logarithm is normal.
    Lognormal {
        /// The mean, above 0.
        mean: SimDuration,
        /// Standard deviation over mean, at most 100.
        cv: f64,
    },
    /// Gamma.
    Gamma {
        /// The mean, above 0.
        mean: SimDuration,
        /// Standard deviation over mean, 0.001 to 100.
        cv: f64,
    },
    /// A sum of exponential stages.
    Erlang {
        /// The mean of the sum, above 0.
        mean: SimDuration,
        /// How many stages, 1 to 1,000,000.
        stages: u32,
    },
    /// Weibull.
    Weibull {
        /// The scale, above 0.
        scale: SimDuration,
        /// The shape, 0.05 to 1,000,000.
        shape: f64,
    },
    /// Pareto: a power-law tail above a least value.
    Pareto {
        /// The least value, above 0.
        min: SimDuration,
        /// The tail index; the mean is finite above 1, which is required.
        shape: f64,
    },
    /// Triangular.
    Triangular {
        /// The least value.
        min: SimDuration,
        /// The most likely value.
        mode: SimDuration,
        /// The greatest value.
        max: SimDuration,
    },
    /// One of several, with given weights.
    Mixture {
        /// The parts.
        parts: Vec<MixturePart>,
    },
    /// Recorded values.
    Empirical {
        /// The values, at least one.
        values: Vec<SimDuration>,
        /// Whether to resample them at random (the default) or replay them in order, again from
        /// the start after the last.
        #[serde(default)]
        order: EmpiricalOrder,
    },
}

/// One part of a mixture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixturePart {
    /// Its share among the weights of all parts, above 0.
    pub weight: f64,
    /// How it varies.
    pub duration: DurationDistribution,
}

/// How recorded values are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmpiricalOrder {
    /// Each draw takes one at random.
    #[default]
    Resample,
    /// Draws take them in order.
    Replay,
}

/// The fields of [`DurationDistribution`] before they are checked.
#[derive(Deserialize)]
#[serde(tag = "distribution", rename_all = "snake_case", deny_unknown_fields)]
enum Written {
    Constant {
        value: SimDuration,
    },
    Exponential {
        mean: SimDuration,
    },
    Uniform {
        min: SimDuration,
        max: SimDuration,
    },
    Normal {
        mean: SimDuration,
        cv: f64,
    },
    Lognormal {
        mean: SimDuration,
        cv: f64,
    },
    Gamma {
        mean: SimDuration,
        cv: f64,
    },
    Erlang {
        mean: SimDuration,
        stages: u32,
    },
    Weibull {
        scale: SimDuration,
        shape: f64,
    },
    Pareto {
        min: SimDuration,
        shape: f64,
    },
    Triangular {
        min: SimDuration,
        mode: SimDuration,
        max: SimDuration,
    },
    Mixture {
        parts: Vec<MixturePart>,
    },
    Empirical {
        values: Vec<SimDuration>,
        #[serde(default)]
        order: EmpiricalOrder,
    },
}

impl<'de> Deserialize<'de> for DurationDistribution {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = match TextOrValue::deserialize(deserializer)? {
            TextOrValue::Constant(constant) => return Ok(constant),
            TextOrValue::Value(value) => value,
        };
        if !written.is_object() {
            let text = format!("{written} is no distribution; allowed is {DISTRIBUTION_ALLOWED}");
            return Err(D::Error::custom(text));
        }
        let read: Written = serde_json::from_value(written).map_err(D::Error::custom)?;
        let read = Self::from(read);
        read.check().map_err(D::Error::custom)?;
        Ok(read)
    }
}

/// Most durations are plain texts, which need no detour.
enum TextOrValue {
    Constant(DurationDistribution),
    Value(serde_json::Value),
}

impl<'de> Deserialize<'de> for TextOrValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrValueVisitor)
    }
}

struct TextOrValueVisitor;

impl<'de> Visitor<'de> for TextOrValueVisitor {
    type Value = TextOrValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(DISTRIBUTION_ALLOWED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TextOrValue, E> {
        let value = parse_duration(text).map_err(E::custom)?;
        Ok(TextOrValue::Constant(DurationDistribution::Constant { value }))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<TextOrValue, E> {
        Ok(TextOrValue::Value(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<TextOrValue, E> {
        Ok(TextOrValue::Value(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<TextOrValue, E> {
        Ok(TextOrValue::Value(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<TextOrValue, E> {
        Ok(TextOrValue::Value(value.into()))
    }

    fn visit_unit<E: Error>(self) -> Result<TextOrValue, E> {
        Ok(TextOrValue::Value(serde_json::Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<TextOrValue, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(items)).map(TextOrValue::Value)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<TextOrValue, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(entries)).map(TextOrValue::Value)
    }
}

impl From<Written> for DurationDistribution {
    fn from(written: Written) -> Self {
        match written {
            Written::Constant { value } => Self::Constant { value },
            Written::Exponential { mean } => Self::Exponential { mean },
            Written::Uniform { min, max } => Self::Uniform { min, max },
            Written::Normal { mean, cv } => Self::Normal { mean, cv },
            Written::Lognormal { mean, cv } => Self::Lognormal { mean, cv },
            Written::Gamma { mean, cv } => Self::Gamma { mean, cv },
            Written::Erlang { mean, stages } => Self::Erlang { mean, stages },
            Written::Weibull { scale, shape } => Self::Weibull { scale, shape },
            Written::Pareto { min, shape } => Self::Pareto { min, shape },
            Written::Triangular { min, mode, max } => Self::Triangular { min, mode, max },
            Written::Mixture { parts } => Self::Mixture { parts },
            Written::Empirical { values, order } => Self::Empirical { values, order },
        }
    }
}

impl From<SimDuration> for DurationDistribution {
    fn from(value: SimDuration) -> Self {
        Self::Constant { value }
    }
}

impl DurationDistribution {
    /// Always `value`.
    #[must_use]
    pub const fn constant(value: SimDuration) -> Self {
        Self::Constant { value }
    }

    /// Says what is impossible about the parameters.
    ///
    /// # Errors
    /// One sentence that names the parameter, its value and what is allowed.
    pub fn check(&self) -> Result<(), String> {
        let above_zero = |name: &str, value: SimDuration| {
            if value.is_zero() { Err(format!("{name} must be above 0")) } else { Ok(()) }
        };
        let within = |name: &str, value: f64, least: f64, most: f64| {
            if value >= least && value <= most {
                Ok(())
            } else {
                Err(format!("{name} is {value}, allowed is {least} to {most}"))
            }
        };
        match self {
            Self::Constant { .. } => Ok(()),
            Self::Exponential { mean } => above_zero("mean", *mean),
            Self::Uniform { min, max } if min > max => {
                Err("min is above max, allowed is min <= max".to_owned())
            }
            Self::Uniform { .. } => Ok(()),
            Self::Normal { mean, cv } => {
                above_zero("mean", *mean)?;
                within("cv", *cv, 0.0, 2.0)
            }
            Self::Lognormal { mean, cv } => {
                above_zero("mean", *mean)?;
                within("cv", *cv, 0.0, 100.0)
            }
            Self::Gamma { mean, cv } => {
                above_zero("mean", *mean)?;
                within("cv", *cv, 0.001, 100.0)
            }
            Self::Erlang { mean, stages } => {
                above_zero("mean", *mean)?;
                within("stages", f64::from(*stages), 1.0, MAX_SHAPE)
            }
            Self::Weibull { scale, shape } => {
                above_zero("scale", *scale)?;
                within("shape", *shape, 0.05, MAX_SHAPE)
            }
            Self::Pareto { min, shape } => {
                above_zero("min", *min)?;
                if *shape > 1.0 && *shape <= MAX_SHAPE {
                    Ok(())
                } else {
                    Err(format!("shape is {shape}, allowed is above 1 to {MAX_SHAPE}"))
                }
            }
            Self::Triangular { min, mode, max } => {
                if min <= mode && mode <= max {
                    Ok(())
                } else {
                    Err("min, mode and max must be in ascending order".to_owned())
                }
            }
            Self::Mixture { parts } => check_mixture(parts),
            Self::Empirical { values, .. } if values.is_empty() => {
                Err("values is empty, at least one is needed".to_owned())
            }
            Self::Empirical { .. } => Ok(()),
        }
    }

    /// The mean, in seconds.
    #[must_use]
    pub fn mean_seconds(&self) -> f64 {
        let mean_of = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        match self {
            Self::Constant { value } => value.as_seconds(),
            Self::Exponential { mean }
            | Self::Lognormal { mean, .. }
            | Self::Gamma { mean, .. }
            | Self::Erlang { mean, .. } => mean.as_seconds(),
            Self::Uniform { min, max } => mean_of(&[min.as_seconds(), max.as_seconds()]),
            Self::Normal { mean, cv } => truncated_normal_mean(mean.as_seconds(), *cv),
            Self::Weibull { scale, shape } => scale.as_seconds() * libm::tgamma(1.0 + 1.0 / shape),
            Self::Pareto { min, shape } => min.as_seconds() * shape / (shape - 1.0),
            Self::Triangular { min, mode, max } => {
                mean_of(&[min.as_seconds(), mode.as_seconds(), max.as_seconds()])
            }
            Self::Mixture { parts } => {
                let weights: f64 = parts.iter().map(|part| part.weight).sum();
                let weighted = |part: &MixturePart| part.weight * part.duration.mean_seconds();
                parts.iter().map(weighted).sum::<f64>() / weights
            }
            Self::Empirical { values, .. } => {
                values.iter().map(|value| value.as_seconds()).sum::<f64>() / values.len() as f64
            }
        }
    }

    /// Prepares drawing.
    #[must_use]
    pub fn sampler(&self) -> DurationSampler {
        DurationSampler::new(self)
    }
}

fn check_mixture(parts: &[MixturePart]) -> Result<(), String> {
    if parts.is_empty() || parts.len() > MAX_PARTS {
        return Err(format!("{} parts, allowed are 1 to {MAX_PARTS}", parts.len()));
    }
    for part in parts {
        if !(part.weight.is_finite() && part.weight > 0.0) {
            return Err(format!("weight is {}, it must be above 0 and finite", part.weight));
        }
        if matches!(part.duration, DurationDistribution::Mixture { .. }) {
            return Err("a mixture within a mixture; write all parts in one".to_owned());
        }
        part.duration.check()?;
    }
    Ok(())
}

/// Mean of a normal redrawn while negative: mu + sigma * phi(a) / (1 - Phi(a)), a = -1 / cv.
fn truncated_normal_mean(mean: f64, cv: f64) -> f64 {
    if cv == 0.0 {
        return mean;
    }
    let a = -1.0 / cv;
    let density = libm::exp(-a * a / 2.0) / libm::sqrt(2.0 * std::f64::consts::PI);
    let above = 0.5 * libm::erfc(a / std::f64::consts::SQRT_2);
    mean * (1.0 + cv * density / above)
}

impl JsonSchema for DurationDistribution {
    fn schema_name() -> Cow<'static, str> {
        "DurationDistribution".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let duration = SimDuration::json_schema(generator);
        let law = |name: &str, fields: serde_json::Value, required: &[&str]| {
            let mut properties = serde_json::Map::new();
            properties.insert("distribution".to_owned(), serde_json::json!({ "const": name }));
            if let serde_json::Value::Object(fields) = fields {
                properties.extend(fields);
            }
            let mut required: Vec<&str> = required.to_vec();
            required.push("distribution");
            serde_json::json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false
            })
        };
        let number = |least: f64, most: f64| serde_json::json!({ "type": "number", "minimum": least, "maximum": most });
        let itself = serde_json::json!({ "$ref": "#/$defs/DurationDistribution" });
        json_schema!({
            "format": DISTRIBUTION_FORMAT,
            "description": "A duration that varies; a plain duration is a constant.",
            "anyOf": [
                duration,
                law("constant", serde_json::json!({ "value": duration }), &["value"]),
                law("exponential", serde_json::json!({ "mean": duration }), &["mean"]),
                law("uniform", serde_json::json!({ "min": duration, "max": duration }), &["min", "max"]),
                law("normal", serde_json::json!({ "mean": duration, "cv": number(0.0, 2.0) }), &["mean", "cv"]),
                law("lognormal", serde_json::json!({ "mean": duration, "cv": number(0.0, 100.0) }), &["mean", "cv"]),
                law("gamma", serde_json::json!({ "mean": duration, "cv": number(0.001, 100.0) }), &["mean", "cv"]),
                law("erlang", serde_json::json!({ "mean": duration, "stages": { "type": "integer", "minimum": 1, "maximum": 1_000_000 } }), &["mean", "stages"]),
                law("weibull", serde_json::json!({ "scale": duration, "shape": number(0.05, MAX_SHAPE) }), &["scale", "shape"]),
                law("pareto", serde_json::json!({ "min": duration, "shape": { "type": "number", "exclusiveMinimum": 1, "maximum": MAX_SHAPE } }), &["min", "shape"]),
                law("triangular", serde_json::json!({ "min": duration, "mode": duration, "max": duration }), &["min", "mode", "max"]),
                law("mixture", serde_json::json!({ "parts": { "type": "array", "minItems": 1, "maxItems": MAX_PARTS, "items": {
                    "type": "object",
                    "properties": { "weight": { "type": "number", "exclusiveMinimum": 0 }, "duration": itself },
                    "required": ["weight", "duration"],
                    "additionalProperties": false
                } } }), &["parts"]),
                law("empirical", serde_json::json!({
                    "values": { "type": "array", "minItems": 1, "items": duration },
                    "order": { "enum": ["resample", "replay"] }
                }), &["values"]),
                // The scenario layer reads the file into `values`.
                law("empirical", serde_json::json!({
                    "file": { "type": "string", "description": "A CSV file, relative to this one." },
                    "column": { "type": "string", "description": "The name in its header line." },
                    "unit": { "enum": ["ns", "us", "ms", "s", "min", "h"] },
                    "order": { "enum": ["resample", "replay"] }
                }), &["file", "column", "unit"])
            ]
        })
    }
}

#[cfg(test)]
mod tests;
