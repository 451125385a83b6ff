//! kthread 0's temporary list: estimators that are not in a chain. The newest is first.

use super::layout::{Tag, UNTAGGED};

/// Estimators in a row on the list that differ in nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    delay: u8,
    tag: Tag,
    count: u64,
}

/// The list: `est_temp_list`.
#[derive(Clone, Debug, Default)]
pub(super) struct TempList {
    /// The head of the list is the last.
    runs: Vec<Run>,
    length: u64,
}

impl TempList {
    pub fn clear(&mut self) {
        self.runs.clear();
        self.length = 0;
    }

    pub fn len(&self) -> u64 {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Puts an estimator that wants to be estimated in `delay` ticks at the head.
    pub fn push(&mut self, delay: usize, tag: Tag) {
        let delay = delay as u8;
        self.length += 1;
        match self.runs.last_mut() {
            Some(run) if run.delay == delay && tag == UNTAGGED && run.tag == UNTAGGED => {
                run.count += 1;
            }
            _ => self.runs.push(Run { delay, tag, count: 1 }),
        }
    }

    /// Takes the head.
    pub fn pop(&mut self) -> Option<(usize, Tag)> {
        let run = self.runs.last_mut()?;
        let taken = (usize::from(run.delay), run.tag);
        run.count -= 1;
        self.length -= 1;
        if run.count == 0 {
            self.runs.pop();
        }
        Some(taken)
    }

    /// The tag of number `index` from the tail, and its run.
    pub fn nth(&self, mut index: u64) -> Option<(usize, Tag)> {
        self.runs
            .iter()
            .position(|run| {
                let inside = index < run.count;
                if !inside {
                    index -= run.count;
                }
                inside
            })
            .map(|run| (run, self.runs[run].tag))
    }

    /// Takes one estimator out of a run found by [`TempList::nth`].
    pub fn remove_from(&mut self, run: usize) {
        self.runs[run].count -= 1;
        self.length -= 1;
        if self.runs[run].count == 0 {
            self.runs.remove(run);
        }
    }

    /// Moves the estimator `tag` to the head, if it is on the list.
    pub fn move_to_head(&mut self, tag: Tag) {
        if let Some(at) = self.runs.iter().position(|run| run.tag == tag) {
            let run = self.runs.remove(at);
            self.runs.push(run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_is_first() {
        let mut list = TempList::default();
        list.push(49, UNTAGGED);
        list.push(49, UNTAGGED);
        list.push(49, 7);
        list.push(3, UNTAGGED);
        assert_eq!(list.len(), 4);
        let taken: Vec<_> = std::iter::from_fn(|| list.pop()).collect();
        assert_eq!(taken, [(3, UNTAGGED), (49, 7), (49, UNTAGGED), (49, UNTAGGED)]);
        assert!(list.is_empty());
    }

    #[test]
    fn one_can_be_taken_from_the_middle_and_one_moved_to_the_head() {
        let mut list = TempList::default();
        for tag in [0, UNTAGGED, 1, UNTAGGED] {
            list.push(49, tag);
        }
        let (run, tag) = list.nth(2).unwrap();
        assert_eq!(tag, 1);
        list.remove_from(run);
        list.move_to_head(0);
        let taken: Vec<_> = std::iter::from_fn(|| list.pop()).map(|(_, tag)| tag).collect();
        assert_eq!(taken, [0, UNTAGGED, UNTAGGED]);
    }
}
