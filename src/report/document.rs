//! A short report made once and shown on the terminal or as Markdown.

use std::fmt::Write as _;

use super::markdown::{escaped, row, rule};
use super::table::{align_right, broken, new_table, text_of};
use super::terminal::wrapped;

/// Width of a heading in a table on the terminal.
const HEADING: u16 = 21;
/// Width of a cell with words there: a name is broken between its words.
const WORDS: u16 = 18;

/// Paragraphs, tables and notes below a title.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    title: String,
    blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq)]
enum Block {
    Paragraph(String),
    Note(String),
    Table(TextTable),
}

/// A table of texts.
#[derive(Clone, Debug, PartialEq)]
pub struct TextTable {
    /// Above the columns.
    pub heading: Vec<String>,
    /// How many columns at the left are words; the others are figures.
    pub words: usize,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Document {
    /// With nothing but a title.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), blocks: Vec::new() }
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Paragraph(text.into()));
    }

    /// Adds a note.
    pub fn note(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Note(text.into()));
    }

    /// Adds a table.
    pub fn table(&mut self, table: TextTable) {
        self.blocks.push(Block::Table(table));
    }

    /// For the terminal.
    #[must_use]
    pub fn terminal(&self) -> String {
        let mut text = wrapped("", &self.title);
        text.push('\n');
        for block in &self.blocks {
            match block {
                Block::Paragraph(paragraph) if paragraph.is_empty() => text.push('\n'),
                Block::Paragraph(paragraph) => {
                    let _ = writeln!(text, "{}", wrapped("", paragraph));
                }
                Block::Note(note) => text.push_str(&wrapped("- ", note)),
                Block::Table(table) => {
                    let heading = table.heading.iter().map(|text| broken(text, HEADING));
                    let mut drawn = new_table(heading);
                    for row in &table.rows {
                        let cells = row.iter().enumerate().map(|(column, text)| {
                            if column < table.words { broken(text, WORDS) } else { text.clone() }
                        });
                        drawn.add_row(cells);
                    }
                    align_right(&mut drawn, table.words);
                    let _ = writeln!(text, "{}", text_of(&drawn));
                }
            }
        }
        text
    }

    /// For a pull request or a design document.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("## {}\n\n", escaped(&self.title));
        for block in &self.blocks {
            match block {
                Block::Paragraph(paragraph) if paragraph.is_empty() => text.push('\n'),
                Block::Paragraph(paragraph) => {
                    let _ = writeln!(text, "{}\n", escaped(paragraph));
                }
                Block::Note(note) => {
                    let _ = writeln!(text, "- {}", escaped(note));
                }
                Block::Table(table) => {
                    row(&mut text, &table.heading);
                    rule(&mut text, table.words, table.heading.len() - table.words);
                    for cells in &table.rows {
                        row(&mut text, cells);
                    }
                    text.push('\n');
                }
            }
        }
        text
    }
}
