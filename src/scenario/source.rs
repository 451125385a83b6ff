//! Texts that values come from: files and command-line arguments, and places in them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use super::problem::Problem;

/// Largest scenario file that is read: recorded values belong in a CSV file beside it.
pub const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Longest line that is shown whole, in bytes.
const SHOWN_WHOLE: usize = 200;
/// Bytes of a longer line that are shown before and after the place in question.
const SHOWN_BEFORE: usize = 60;
const SHOWN_AFTER: usize = 100;

/// A range of bytes in one of the [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    source: u32,
    start: u32,
    end: u32,
}

impl Origin {
    /// Whether both lie in the same text.
    #[must_use]
    pub const fn is_in_text_of(self, other: Self) -> bool {
        self.source == other.source
    }
}

/// The name of a text that is an argument of the command line.
pub const COMMAND_LINE: &str = "command line";

/// A text with its name.
#[derive(Debug)]
pub struct SourceText {
    /// What to call it: the path as the user wrote it, or `command line`.
    pub name: String,
    /// Where relative paths in it start from.
    pub folder: PathBuf,
    text: String,
}

/// Files by their paths as a scenario names them, in place of those of this machine.
pub type GivenFiles = BTreeMap<PathBuf, Vec<u8>>;

/// All texts that a scenario was read from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    texts: Vec<Arc<SourceText>>,
    files: Vec<PathBuf>,
    given: Option<Arc<GivenFiles>>,
}

impl Sources {
    /// Reads from `given` alone, if there is that.
    #[must_use]
    pub fn of(given: Option<Arc<GivenFiles>>) -> Self {
        Self { given, ..Self::default() }
    }

    /// Reads a text file whole, within `limit` bytes.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn read(&self, path: &Path, limit: u64) -> Result<String, Problem> {
        let Some(given) = &self.given else { return read_text(path, limit) };
        let file = path.display().to_string();
        match given.get(path) {
            None => Err(Problem::FileMissing { file }),
            Some(bytes) if bytes.len() as u64 > limit => Err(Problem::FileTooLarge { file, limit }),
            Some(bytes) => text_of(bytes.clone(), file),
        }
    }

    /// What tells the file at `path` from every other.
    #[must_use]
    pub fn identity(&self, path: &Path) -> PathBuf {
        let canonical = self.given.is_none().then(|| std::fs::canonicalize(path).ok());
        canonical.flatten().unwrap_or_else(|| path.to_owned())
    }

    /// Adds a text and returns the place of the whole of it.
    pub fn add(&mut self, name: String, folder: PathBuf, text: String) -> Origin {
        let source = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.texts.push(Arc::new(SourceText { name, folder, text }));
        Origin { source, start: 0, end }
    }

    /// Remembers that a file was read.
    pub fn note_file(&mut self, path: &Path) {
        self.files.push(path.to_owned());
    }

    /// The files that were read, in that order.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The text that `origin` lies in.
    #[must_use]
    pub fn text_of(&self, origin: Origin) -> Option<Arc<SourceText>> {
        self.texts.get(origin.source as usize).cloned()
    }

    /// The argument of the command line that `origin` lies in, if it lies in one.
    #[must_use]
    pub fn argument(&self, origin: Origin) -> Option<&str> {
        let source = self.texts.get(origin.source as usize)?;
        (source.name == COMMAND_LINE).then_some(&source.text)
    }

    /// `file:line:column`, counted from 1, columns in characters.
    #[must_use]
    pub fn place(&self, origin: Origin) -> String {
        self.texts.get(origin.source as usize).map_or_else(String::new, |source| {
            let (line, column) = source.line_and_column(origin.start as usize);
            format!("{}:{}:{}", source.name, line + 1, column + 1)
        })
    }

    /// `file:line`, counted from 1.
    #[must_use]
    pub fn line(&self, origin: Origin) -> String {
        self.texts.get(origin.source as usize).map_or_else(String::new, |source| {
            format!("{}:{}", source.name, source.line_and_column(origin.start as usize).0 + 1)
        })
    }

    /// Number of the line, counted from 1.
    #[must_use]
    pub fn line_number(&self, origin: Origin) -> usize {
        self.texts
            .get(origin.source as usize)
            .map_or(0, |source| source.line_and_column(origin.start as usize).0 + 1)
    }
}

impl Origin {
    /// The bytes `start..end` counted from the start of the text that `self` lies in.
    #[must_use]
    pub fn at(self, start: usize, end: usize) -> Self {
        let narrow = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { source: self.source, start: narrow(start), end: narrow(end) }
    }

    /// The bytes `start..end` counted from the start of `self`, within `self`.
    #[must_use]
    pub fn within(self, start: usize, end: usize) -> Self {
        let from = (self.start as usize).saturating_add(start).min(self.end as usize);
        let to = (self.start as usize).saturating_add(end).min(self.end as usize);
        self.at(from, to)
    }

    /// How many bytes.
    #[must_use]
    pub const fn length(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// First byte.
    #[must_use]
    pub const fn start(self) -> usize {
        self.start as usize
    }
}

impl SourceText {
    /// Counted from 0, columns in characters.
    fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let line_start = self.line_start(offset);
        let line = self.text.as_bytes()[..line_start].iter().filter(|byte| **byte == b'\n').count();
        let column = self.text.get(line_start..self.floor(offset)).map_or(0, |t| t.chars().count());
        (line, column)
    }

    /// The nearest character boundary not after `offset`.
    fn floor(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }

    fn line_start(&self, offset: usize) -> usize {
        let offset = self.floor(offset);
        self.text[..offset].rfind('\n').map_or(0, |newline| newline + 1)
    }

    fn line_end(&self, offset: usize) -> usize {
        let offset = self.floor(offset);
        self.text[offset..].find('\n').map_or(self.text.len(), |newline| offset + newline)
    }

    /// The part of `origin` to underline: its first line, at most so long that it is shown whole.
    #[must_use]
    pub fn label(&self, origin: Origin) -> SourceSpan {
        let start = self.floor(origin.start as usize);
        let end = (origin.end as usize).min(self.line_end(start)).min(start + SHOWN_AFTER);
        let end = self.floor(end).max(start);
        // A carriage return before the line's end is no part of the value.
        let length = self.text[start..end].trim_end_matches('\r').len();
        (start, length).into()
    }
}

/// Shows the line of a span; of a very long line, only the neighbourhood of the span.
impl SourceCode for SourceText {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        _: usize,
        _: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let start = self.floor(span.offset());
        let (line, column) = self.line_and_column(start);
        let (mut from, mut to) = (self.line_start(start), self.line_end(start));
        if to - from > SHOWN_WHOLE {
            from = from.max(self.floor(start.saturating_sub(SHOWN_BEFORE)));
            to = to.min(self.floor(start + SHOWN_AFTER));
        }
        let shown = self.text[from..to].trim_end_matches('\r');
        let span = (from, shown.len().max(span.offset() + span.len() - from)).into();
        let contents = MietteSpanContents::new_named(
            self.name.clone(),
            shown.as_bytes(),
            span,
            line,
            column,
            1,
        );
        Ok(Box::new(contents))
    }
}

/// Reads a text file whole, within [`MAX_FILE_BYTES`].
///
/// # Errors
/// What is wrong with the file.
fn read_text(path: &Path, limit: u64) -> Result<String, Problem> {
    let shown = path.display().to_string();
    let unreadable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Problem::FileMissing { file: shown.clone() },
        ErrorKind::IsADirectory => Problem::Directory { file: shown.clone() },
        _ => Problem::Unreadable { file: shown.clone(), reason: error.to_string() },
    };
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(Problem::Directory { file: shown });
    }
    if metadata.len() > limit {
        return Err(Problem::FileTooLarge { file: shown, limit });
    }
    // A device or pipe has no length beforehand, so the reading itself is bounded too.
    let mut bytes = Vec::new();
    let mut reader = File::open(path).map_err(unreadable)?.take(limit + 1);
    reader.read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(Problem::FileTooLarge { file: shown, limit });
    }
    text_of(bytes, shown)
}

fn text_of(bytes: Vec<u8>, file: String) -> Result<String, Problem> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        }),
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let before = &error.as_bytes()[..offset];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            Err(Problem::NotUtf8 { file, offset, line })
        }
    }
}
