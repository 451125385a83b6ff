//! Which colour a part of a metric has: the same in every picture of a scenario, whatever its results.

use plotters::style::RGBColor;

use super::style::{MOST_AREAS, OTHER, area_colour};
use crate::report::stored::{StoredColumn, words};

/// What has no name of its own.
pub const REST: &str = "other";

/// The parts of all metrics of a scenario, in the order in which the models define them; parts of
/// the same name are one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PartColours(Vec<String>);

impl PartColours {
    /// For the metrics `columns`, each with its name and that of the metric it is a part of.
    #[must_use]
    pub fn new<'c>(columns: impl Iterator<Item = (&'c str, Option<&'c str>)>) -> Self {
        let mut names: Vec<String> = Vec::new();
        for (name, whole) in columns {
            let Some(whole) = whole else { continue };
            let name = key(&title(whole, name));
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Self(names)
    }

    /// For those of stored results.
    #[must_use]
    pub fn of(columns: &[StoredColumn]) -> Self {
        Self::new(columns.iter().map(|column| (column.name.as_str(), column.part_of.as_deref())))
    }

    /// The colour of each of `names`: of a part its own; of others those that no part has, then those
    /// of parts that are not here, in the order of the alphabet, so that they do not depend on how long
    /// each lasts.
    #[must_use]
    pub fn colours(&self, names: &[String]) -> Vec<RGBColor> {
        let own = |name: &String| self.0.iter().position(|known| *known == key(name));
        let taken: Vec<usize> = names.iter().filter_map(own).map(|own| own % MOST_AREAS).collect();
        let free =
            (self.0.len().min(MOST_AREAS)..MOST_AREAS).chain(0..self.0.len().min(MOST_AREAS));
        let free: Vec<usize> = free.filter(|index| !taken.contains(index)).collect();
        let mut others: Vec<&String> = names.iter().filter(|name| own(name).is_none()).collect();
        others.retain(|name| *name != REST);
        others.sort_unstable();
        let place = |name: &String| others.iter().position(|other| *other == name);
        let colour = |name: &String| match own(name) {
            _ if name == REST => OTHER,
            Some(own) => area_colour(own),
            None => {
                place(name).and_then(|at| free.get(at)).map_or(OTHER, |index| area_colour(*index))
            }
        };
        names.iter().map(colour).collect()
    }
}

/// The name of a part within its whole, for a reader.
#[must_use]
pub fn title(whole: &str, part: &str) -> String {
    let own = part.strip_prefix(whole).and_then(|rest| rest.strip_prefix('.'));
    words(own.unwrap_or(part))
}

/// `LAG pass` of a timeline is the part `lag_pass` of a metric.
fn key(name: &str) -> String {
    name.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_one_colour_whatever_stands_beside_it() {
        let columns = [
            ("loss", None),
            ("loss.lag_pass", Some("loss")),
            ("loss.bgp", Some("loss")),
            ("time.bgp", Some("time")),
        ];
        let colours = PartColours::new(columns.into_iter());
        let of = |names: &[&str]| {
            colours.colours(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        let bars = of(&["bgp", "lag pass", REST]);
        let gantt = of(&["route batch", "LAG pass", "request", "bgp"]);
        assert_eq!((bars[0], bars[1], bars[2]), (gantt[3], gantt[1], OTHER));
        assert!(!bars.contains(&gantt[0]) && !bars.contains(&gantt[2]) && gantt[0] != gantt[2]);
        // What is no part has its colour whatever lasts longest, and none that a part has elsewhere.
        let other = of(&["bgp", "request", "LAG pass", "route batch"]);
        assert_eq!((other[1], other[3]), (gantt[2], gantt[0]));
        assert!(!of(&["request"]).contains(&bars[1]));
    }
}
