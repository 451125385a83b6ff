//! Everything that can be wrong with a scenario. The facts are in [`Problem`]; the texts are made
//! in [`Problem::text`] and nowhere else.

use std::collections::HashSet;

use super::node::clip;
use super::source::Origin;
use crate::wording::counted;
pub use crate::wording::visible;

/// Most problems that are kept; a file with more is wrong in its whole shape.
const MAX_PROBLEMS: usize = 50;
/// Most names that an error text lists.
const MAX_LISTED: usize = 24;

/// What is wrong, with the facts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the facts of each kind are named by its doc comment")]
pub enum Problem {
    /// A folder where a file is needed.
    Directory { file: String },
    /// No such file.
    FileMissing { file: String },
    /// The operating system refuses to read it.
    Unreadable { file: String, reason: String },
    /// More bytes than are read.
    FileTooLarge { file: String, limit: u64 },
    /// Bytes that are no text.
    NotUtf8 { file: String, offset: usize, line: usize },
    /// No JSON.
    Syntax { reason: String },
    /// Nothing but blanks and comments.
    Empty,
    /// Lists and objects too deep within each other.
    TooDeep { limit: usize },
    /// The same key twice in an object.
    DuplicateKey { key: String, first: Origin },
    /// A text with a character that cannot be shown, here as U+FFFD.
    ControlCharacter { text: String },
    /// A number past the range of a double.
    NumberTooLarge { text: String },
    /// NaN or an infinity.
    NotFinite { text: String },
    /// `extends` leads back to the same file.
    ExtendsCycle { chain: Vec<String> },
    /// A file that `extends` names cannot be read.
    Extends { reason: Box<Problem> },
    /// A key that is not known here.
    UnknownKey { key: String, allowed: Vec<String> },
    /// A key that must be there.
    MissingKey { key: String, allowed: String },
    /// Another kind of value than is needed.
    WrongType { value: String, allowed: String },
    /// A plain number where a unit is needed.
    BareNumber { value: String, allowed: String },
    /// A text that is no quantity of the needed kind.
    BadQuantity { value: String, reason: String, allowed: String },
    /// A number outside its range.
    OutOfRange { value: String, allowed: String },
    /// A list or object with too few or too many items.
    WrongLength { length: usize, allowed: String },
    /// A word that is not among those allowed.
    BadChoice { value: String, allowed: Vec<String> },
    /// Parameters of a distribution that cannot be.
    BadDistribution { reason: String },
    /// Parsed, but the model's own reading refuses it.
    Unacceptable { reason: String },
    /// A relation between fields that cannot be.
    Impossible { problem: String, allowed: String },
    /// A name that is used twice.
    DuplicateName { what: &'static str, name: String },
    /// A name that cannot be a name.
    BadName { what: &'static str, name: String, allowed: &'static str },
    /// A name of something that is not there.
    UnknownName { what: &'static str, name: String, known: Vec<String> },
    /// A path that is no path.
    BadPath { text: String, reason: String },
    /// A path goes through a value that has no keys or items.
    NotAContainer { at: String, value: String },
    /// An index past the end of a list.
    NoSuchItem { at: String, length: usize },
    /// An argument without `=`.
    NoEquals { option: &'static str, text: String },
    /// A range such as `32..4096:log2` that cannot be.
    BadRange { text: String, reason: String },
    /// A range such as `32..4096:log` that values cannot be drawn from.
    BadSpan { text: String, reason: String },
    /// Lists that advance together but have not the same length.
    UnequalLists { lengths: Vec<(String, usize)> },
    /// Two axes set one path.
    VariedTwice { path: String },
    /// An option sets a path, and so does another.
    SetTwice { path: String },
    /// `--vary` with several paths but not as many lists.
    BadZip { text: String, reason: String },
    /// `--design` that names no design.
    BadDesign { text: String, reason: String },
    /// A design without a range to draw from.
    NothingToSample,
    /// A condition that is none, or that cannot be reckoned.
    BadCondition { text: String, reason: String },
    /// Conditions that no point of a sweep meets.
    NothingLeft { points: usize },
    /// The same value twice on an axis or in a set.
    RepeatedValue { value: String },
    /// More points than are allowed; whether there is an option to allow more.
    TooManyPoints { points: Option<u64>, limit: u64, option: bool },
    /// The command line both fixes a path and, with `option`, varies it.
    FixedAndVaried { path: String, option: &'static str },
    /// An expectation without a bound, or with bounds that exclude each other.
    BadExpectation { problem: String, allowed: String },
    /// A question for `solve` or `sensitivity` that cannot be answered.
    BadQuestion { problem: String, allowed: String },
    /// A CSV file of recorded values cannot be used.
    BadRecording { file: String, reason: String },
}

impl Problem {
    /// What is wrong, and what is allowed or what to do.
    #[must_use]
    pub fn text(&self) -> (String, String) {
        match self {
            Self::UnknownKey { .. } | Self::BadChoice { .. } => self.value_text(),
            Self::MissingKey { .. }
            | Self::WrongType { .. }
            | Self::BareNumber { .. }
            | Self::BadQuantity { .. }
            | Self::OutOfRange { .. }
            | Self::WrongLength { .. }
            | Self::BadDistribution { .. }
            | Self::Unacceptable { .. }
            | Self::Impossible { .. } => {
                let (problem, allowed) = self.value_text();
                (problem, format!("allowed: {allowed}"))
            }
            Self::ControlCharacter { .. }
            | Self::DuplicateName { .. }
            | Self::BadName { .. }
            | Self::UnknownName { .. }
            | Self::BadPath { .. }
            | Self::NotAContainer { .. }
            | Self::NoSuchItem { .. }
            | Self::NoEquals { .. }
            | Self::BadRange { .. }
            | Self::RepeatedValue { .. }
            | Self::TooManyPoints { .. }
            | Self::FixedAndVaried { .. }
            | Self::BadExpectation { .. }
            | Self::BadQuestion { .. } => self.meaning_text(),
            Self::BadSpan { .. }
            | Self::UnequalLists { .. }
            | Self::VariedTwice { .. }
            | Self::SetTwice { .. }
            | Self::BadZip { .. }
            | Self::BadDesign { .. }
            | Self::NothingToSample
            | Self::BadCondition { .. }
            | Self::NothingLeft { .. } => self.design_text(),
            _ => self.file_text(),
        }
    }

    fn file_text(&self) -> (String, String) {
        match self {
            Self::Directory { file } => {
                (format!("{file} is a directory"), "name a file in it".to_owned())
            }
            Self::FileMissing { file } => (
                format!("{file} does not exist"),
                "name an existing file; `convsim new MODEL -o FILE` writes one".to_owned(),
            ),
            Self::Unreadable { file, reason } => {
                (format!("{file} cannot be read: {reason}"), "name a readable file".to_owned())
            }
            Self::FileTooLarge { file, limit } => (
                format!("{file} is larger than {} MiB", limit / (1024 * 1024)),
                "keep recorded values in a CSV file, which a distribution can name".to_owned(),
            ),
            Self::NotUtf8 { file, offset, line } => (
                format!("{file} is not UTF-8 text: byte {offset}, in line {line}"),
                "save it as UTF-8".to_owned(),
            ),
            Self::Syntax { reason } => (
                format!("not JSON: {}", lower_first(reason)),
                "JSON with // and /* */ comments and trailing commas".to_owned(),
            ),
            Self::Empty => ("there is no value".to_owned(), "an object { ... }".to_owned()),
            Self::TooDeep { limit } => (
                format!("lists and objects are nested more than {limit} deep"),
                format!("at most {limit} levels"),
            ),
            Self::DuplicateKey { key, .. } => {
                (format!("\"{key}\" is written twice"), "write each key once".to_owned())
            }
            Self::NumberTooLarge { text } => (
                format!("{text} is too large for a number"),
                "a finite number, at most about 1.8e308".to_owned(),
            ),
            Self::NotFinite { text } => {
                (format!("{text} is not a finite number"), "a finite number".to_owned())
            }
            Self::ExtendsCycle { chain } => (
                format!("\"extends\" goes in a circle: {}", chain.join(" -> ")),
                "remove one of these \"extends\"".to_owned(),
            ),
            Self::Extends { reason } => {
                let (problem, allowed) = reason.text();
                (format!("the file to extend: {problem}"), allowed)
            }
            Self::BadRecording { file, reason } => (
                format!("{file}: {reason}"),
                "a CSV file with a header line and a number in each row of the column".to_owned(),
            ),
            // The other kinds are handled by the other functions.
            _ => (String::new(), String::new()),
        }
    }

    fn value_text(&self) -> (String, String) {
        match self {
            Self::UnknownKey { key, allowed } => {
                (format!("unknown key \"{key}\""), suggestion(key, allowed))
            }
            Self::MissingKey { key, allowed } => (format!("\"{key}\" is missing"), allowed.clone()),
            Self::WrongType { value, allowed } => {
                (format!("{value} is not allowed here"), allowed.clone())
            }
            Self::BareNumber { value, allowed } => {
                (format!("{value} has no unit"), allowed.clone())
            }
            Self::BadQuantity { value, reason, allowed } => {
                (format!("{value}: {reason}"), allowed.clone())
            }
            Self::OutOfRange { value, allowed } => {
                (format!("{value} is out of range"), allowed.clone())
            }
            Self::WrongLength { length: 0, allowed } => ("is empty".to_owned(), allowed.clone()),
            Self::WrongLength { length: 1, allowed } => ("has 1 item".to_owned(), allowed.clone()),
            Self::WrongLength { length, allowed } => {
                (format!("has {length} items"), allowed.clone())
            }
            Self::BadChoice { value, allowed } => {
                (format!("{value} is not a choice"), suggestion(value, allowed))
            }
            Self::BadDistribution { reason } => (
                format!("the distribution is impossible: {reason}"),
                "the parameters and ranges that `convsim schema` lists".to_owned(),
            ),
            Self::Unacceptable { reason } => {
                (reason.clone(), "what `convsim describe` says".to_owned())
            }
            Self::Impossible { problem, allowed } => (problem.clone(), allowed.clone()),
            _ => (String::new(), String::new()),
        }
    }

    fn design_text(&self) -> (String, String) {
        match self {
            Self::BadSpan { text, reason } => (
                format!("\"{}\" is not a range to draw from: {reason}", clip(text, 80)),
                "0.1..0.9, 1..8:whole, 32..4096:log, or with units 10 ms..100 ms:log".to_owned(),
            ),
            Self::UnequalLists { lengths } => {
                let shown: Vec<String> =
                    lengths.iter().map(|(path, length)| format!("{path} has {length}")).collect();
                (
                    format!("lists that advance together differ in length: {}", shown.join(", ")),
                    "the same number of values in each".to_owned(),
                )
            }
            Self::VariedTwice { path } => (
                format!("{path} is varied twice"),
                "one of sweep, zip and sample for each path, and one --vary".to_owned(),
            ),
            Self::SetTwice { path } => {
                (format!("{path} is set twice"), "give only one of the two".to_owned())
            }
            Self::BadZip { text, reason } => (
                format!("--vary {} has {reason}", clip(text, 80)),
                "a list for each path, in the same order: a.x,a.y=1,2;10 ms,20 ms".to_owned(),
            ),
            Self::BadDesign { text, reason } => (
                format!("--design {}: {reason}", clip(text, 80)),
                "sobol:64 or latin_hypercube:40 (short: lhs:40)".to_owned(),
            ),
            Self::NothingToSample => (
                "the design has no range to draw from".to_owned(),
                "at least one --vary path=low..high, for instance --vary \
                 orchagent.pop_batch_size=32..4096:log"
                    .to_owned(),
            ),
            Self::BadCondition { text, reason } => (
                format!("\"{}\" cannot be tested: {reason}", clip(text, 80)),
                "comparisons (<, <=, >, >=, ==, !=) of paths, numbers, durations and rates with \
                 +, -, *, / and parentheses: \"http.server.workers * http.server.threads <= 64\""
                    .to_owned(),
            ),
            Self::NothingLeft { points } => (
                format!(
                    "none of the {} of the sweep meets every condition",
                    counted(*points, "point")
                ),
                "conditions that at least one point meets".to_owned(),
            ),
            _ => (String::new(), String::new()),
        }
    }

    fn meaning_text(&self) -> (String, String) {
        match self {
            Self::ControlCharacter { text } => (
                format!("\"{text}\" has a control character, here as \u{fffd}"),
                "letters and signs, line ends and tabs".to_owned(),
            ),
            Self::DuplicateName { what, name } => (
                format!("there is already a {what} called \"{name}\""),
                format!("give each {what} its own name"),
            ),
            Self::BadName { what, name, allowed } => {
                (format!("\"{}\" cannot name a {what}", clip(name, 60)), (*allowed).to_owned())
            }
            Self::UnknownName { what, name, known } => (
                format!("there is no {what} called \"{}\"", clip(name, 80)),
                suggestion(name, known),
            ),
            Self::BadPath { text, reason } => (
                format!("\"{}\" is not a path: {reason}", clip(text, 80)),
                "component.key, component.key.key, component.key[0] or run.key".to_owned(),
            ),
            Self::NotAContainer { at, value } => (
                format!("{at} is {value}, which has nothing within it"),
                format!("set {at} itself"),
            ),
            Self::NoSuchItem { at, length } => (
                format!("{at} does not exist: the list has {}", counted(*length, "item")),
                "an index counted from 0".to_owned(),
            ),
            Self::NoEquals { option, text } => (
                format!("{option} {} has no \"=\"", clip(text, 80)),
                match *option {
                    "--vary" => "--vary path=value,value or path=32..4096:log2, or \
                                 path,path=1,2;3,4 for lists that advance together"
                        .to_owned(),
                    _ => "--set path=value".to_owned(),
                },
            ),
            Self::BadRange { text, reason } if reason.contains("more ") => (
                format!("\"{}\" is too long: {reason}", clip(text, 80)),
                "fewer values, for instance with :log2 or :linear:9 behind the ends".to_owned(),
            ),
            Self::BadRange { text, reason } => (
                format!("\"{}\" is not a range: {reason}", clip(text, 80)),
                "1..8, 32..4096:log2, 0.1..0.9:linear:9, 1..1000:log:7:whole, or with units \
                 10 ms..100 ms:linear:10"
                    .to_owned(),
            ),
            Self::RepeatedValue { value } => {
                (format!("{value} is listed twice"), "list each value once".to_owned())
            }
            Self::TooManyPoints { points, limit, option } => (
                match points {
                    Some(points) => format!("{points} points are more than {limit}"),
                    None => format!("the number of points is far above {limit}"),
                },
                match option {
                    true => "fewer values on the axes, or a larger --max-points".to_owned(),
                    false => "fewer values".to_owned(),
                },
            ),
            Self::FixedAndVaried { path, option } => {
                (format!("--set fixes {path} and {option} varies it"), "give only one".to_owned())
            }
            Self::BadExpectation { problem, allowed } | Self::BadQuestion { problem, allowed } => {
                (problem.clone(), allowed.clone())
            }
            _ => (String::new(), String::new()),
        }
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect::<String>())
}

/// The nearest name, if one is near, and all of them.
fn suggestion(name: &str, known: &[String]) -> String {
    let name = name.trim_matches('"');
    let listed = match known {
        [] => return "none is defined".to_owned(),
        _ if known.len() > MAX_LISTED => {
            format!("{}, ... ({} in all)", known[..MAX_LISTED].join(", "), known.len())
        }
        _ => known.join(", "),
    };
    match nearest(name, known) {
        Some(near) => format!("did you mean \"{near}\"? Known: {listed}"),
        None => format!("known: {listed}"),
    }
}

/// The name most like `name`, if it is like it at all.
#[must_use]
pub fn nearest<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    // Comparing very long texts takes quadratic time, and none of them is a typing error.
    if name.len() > 200 {
        return None;
    }
    let name = name.to_lowercase();
    known
        .iter()
        .map(|known| (strsim::jaro_winkler(&name, &known.to_lowercase()), known))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known.as_str())
}

/// A problem and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Located {
    /// What is wrong.
    pub problem: Problem,
    /// The path in the scenario; empty if it concerns no value.
    pub path: String,
    /// The place; none if it concerns no text.
    pub origin: Option<Origin>,
}

/// All problems found so far, each once.
#[derive(Debug, Default)]
pub struct Problems {
    found: Vec<Located>,
    seen: HashSet<(Problem, Option<Origin>)>,
    /// Places of numbers that could not be read; whatever else is wrong there follows from it.
    unread: HashSet<Origin>,
    omitted: usize,
}

impl Problems {
    /// Adds a problem unless it is already known.
    pub fn add(&mut self, problem: Problem, path: &str, origin: Option<Origin>) {
        if origin.is_some_and(|origin| self.unread.contains(&origin)) {
            return;
        }
        if matches!(problem, Problem::NumberTooLarge { .. } | Problem::NotFinite { .. }) {
            self.unread.extend(origin);
        }
        if self.found.len() >= MAX_PROBLEMS {
            self.omitted += 1;
        } else if self.seen.insert((problem.clone(), origin)) {
            self.found.push(Located { problem, path: path.to_owned(), origin });
        }
    }

    /// Adds those of `other`.
    pub fn append(&mut self, other: Self) {
        self.omitted += other.omitted;
        for located in other.found {
            self.add(located.problem, &located.path, located.origin);
        }
    }

    /// How many, including those not kept.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.found.len() + self.omitted
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Whether no more are kept.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.found.len() >= MAX_PROBLEMS
    }

    /// Those kept, and how many more there were.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Located>, usize) {
        (self.found, self.omitted)
    }
}
