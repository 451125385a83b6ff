//! Pictures of a size that a slide holds: what does not fit into one goes on in the next.

use std::ops::Range;

use super::drawing::Drawing;

/// Which rows, panels or series are on which page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pages(Vec<Range<usize>>);

impl Pages {
    /// For `count` things of which `capacity` fit into one picture: as even as can be.
    #[must_use]
    pub fn new(count: usize, capacity: usize) -> Self {
        let pages = count.div_ceil(capacity.max(1)).max(1);
        let start = |page: usize| page * count / pages;
        Self((0..pages).map(|page| start(page)..start(page + 1)).collect())
    }

    /// What is on each page.
    #[must_use]
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.0
    }

    /// The pictures: `one` gets what to say of the page, which is nothing where there is no other,
    /// and what is on it.
    pub fn draw(&self, one: impl Fn(&str, Range<usize>) -> Drawing) -> Vec<Drawing> {
        let all = self.0.len();
        let note = |page: usize| {
            if all > 1 { format!("page {} of {all}", page + 1) } else { String::new() }
        };
        self.0.iter().enumerate().map(|(page, range)| one(&note(page), range.clone())).collect()
    }
}

/// The parts of a subtitle that say something. What is cut at its end is the least important.
#[must_use]
pub fn joined(parts: &[&str]) -> String {
    let told: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    told.join("; ")
}

/// The name of each page: the first is called `name`, the second `name-2`.
#[must_use]
pub fn named(name: &str, pages: Vec<Drawing>) -> Vec<(String, Drawing)> {
    let number = |(index, drawing): (usize, Drawing)| match index {
        0 => (name.to_owned(), drawing),
        _ => (format!("{name}-{}", index + 1), drawing),
    };
    pages.into_iter().enumerate().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_everything_once_and_are_about_as_full_as_each_other() {
        for count in 0..60 {
            for capacity in 1..15 {
                let Pages(pages) = Pages::new(count, capacity);
                let all: Vec<usize> = pages.iter().cloned().flatten().collect();
                assert_eq!(all, (0..count).collect::<Vec<_>>());
                let most = pages.iter().map(Range::len).max().unwrap();
                let least = pages.iter().map(Range::len).min().unwrap();
                assert!(most <= capacity && most - least <= 1, "{count} {capacity}: {pages:?}");
            }
        }
    }
}
