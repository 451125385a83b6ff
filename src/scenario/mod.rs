//! The scenario file format: from text to a validated [`Scenario`].
//!
//! A file goes through these rooms, in this order:
//!
//! - [`source`]: texts and places in them; reading files within limits.
//! - `parse`, `node`: JSON with comments into a tree in which every value knows its place.
//! - `extends`: merging a file over the one that it extends.
//! - `overrides`, `vary`, `path`, `axis`, `span`: what the command line changes.
//! - `file`: the types of a file and, from them, its JSON Schema.
//! - `validate`, `schema_text`, `schema_kind`: the tree against the schema, everything at once.
//! - `design`: which points there are, by grid, lists that advance together, sampling and
//!   conditions; `points`: each of them, typed (`reading`) and checked by its models;
//!   `recording`: recorded values from CSV files; `identity`: what names a point.
//! - `expect`: what must come out; `recorded`: what the real system did; [`target`]: figures and
//!   targets on the command line.
//! - [`question`]: what a file asks `solve` and `sensitivity`.
//! - `explicit`, [`varied`]: points for an analysis of sensitivity, and the ranges they come from.
//! - [`problem`], [`error`]: what can be wrong, and how it is shown.
//! - [`types`]: the result.
//! - [`parameters`]: what the models' schemas say, for `describe` and `new`.

mod axis;
mod design;
pub mod error;
mod expect;
mod explicit;
mod extends;
mod file;
mod identity;
#[cfg(test)]
mod keywords;
mod load;
mod node;
mod overrides;
pub mod parameters;
mod parse;
mod path;
mod points;
pub mod problem;
pub mod question;
mod reading;
mod recorded;
mod recording;
mod schema_kind;
mod schema_text;
pub mod source;
mod span;
pub mod target;
pub mod types;
mod validate;
#[cfg(test)]
mod validate_tests;
pub mod varied;
mod vary;

pub use error::LoadError;
pub use file::schema;
pub use load::load;
pub use overrides::LoadOptions;
pub use source::GivenFiles;
pub use types::{
    Expectation, MetricColumn, Point, Precision, Recorded, RelativeTo, RunSettings, Scenario,
    Seeding, Statistic,
};
