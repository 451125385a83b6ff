//! The counted chains against a twin that knows every estimator and follows the kernel's rules
//! to the letter.

use proptest::prelude::*;

use super::algorithm::{Algorithm, INITIAL_DELAY, Limits, ROWS};
use super::config::Config;
use super::layout::{Layout, Place, UNTAGGED};

#[derive(Clone, Debug)]
struct TwinKthread {
    est_row: usize,
    add_row: usize,
    members: Vec<(usize, usize)>,
}

impl TwinKthread {
    fn tick_len(&self, row: usize) -> u32 {
        self.members.iter().filter(|member| member.0 == row).count() as u32
    }

    fn chain_len(&self, row: usize, chain: usize) -> u32 {
        self.members.iter().filter(|&&member| member == (row, chain)).count() as u32
    }

    fn row_for(&self, delay: usize, limits: &Limits) -> usize {
        let has_room = |row: &usize| self.tick_len(*row) < limits.tick_max;
        let many = self.members.len() as u32 >= 2 * limits.tick_max;
        let base = if many || delay < INITIAL_DELAY { self.est_row } else { self.add_row };
        let wanted = (base + delay) % ROWS;
        if delay >= INITIAL_DELAY {
            (0..=wanted).rev().find(has_room).or_else(|| (0..ROWS).rev().find(has_room)).unwrap()
        } else {
            (wanted..ROWS).find(has_room).or_else(|| (0..ROWS).find(has_room)).unwrap()
        }
    }
}

struct Twin {
    kthreads: Vec<Option<TwinKthread>>,
    add_ktid: usize,
    limits: Limits,
    max_threads: usize,
}

impl Twin {
    fn is_full(&self, kthread: &TwinKthread) -> bool {
        kthread.members.len() as u32 >= self.limits.est_max_count
    }

    fn choose(&mut self) {
        let room = |slot: &Option<TwinKthread>| slot.as_ref().is_some_and(|k| !self.is_full(k));
        let with_room = self.kthreads.iter().position(room);
        let empty = self.kthreads.iter().position(Option::is_none);
        self.add_ktid = with_room.or(empty).unwrap_or(self.kthreads.len());
    }

    fn enqueue(&mut self, delay: usize) -> Option<(usize, usize, usize)> {
        if !matches!(self.kthreads.get(self.add_ktid), Some(Some(_))) {
            if self.kthreads.len() >= self.max_threads {
                return None;
            }
            let new = TwinKthread { est_row: 0, add_row: 0, members: Vec::new() };
            let hole = self.kthreads.iter().position(Option::is_none);
            match hole {
                Some(hole) => self.kthreads[hole] = Some(new),
                None => self.kthreads.push(Some(new)),
            }
            self.add_ktid = hole.unwrap_or(self.kthreads.len() - 1);
        }
        let (slot, limits) = (self.add_ktid, self.limits);
        let kthread = self.kthreads[slot].as_mut().unwrap();
        let row = kthread.row_for(delay, &limits);
        let chain = (0..limits.chains as usize)
            .find(|&chain| kthread.chain_len(row, chain) < limits.chain_max)
            .unwrap();
        kthread.members.push((row, chain));
        if kthread.members.len() as u32 == limits.est_max_count {
            self.choose();
        }
        Some((slot, row, chain))
    }

    fn remove(&mut self, place: Place) {
        let slot = place.kthread as usize;
        let kthread = self.kthreads[slot].as_mut().unwrap();
        let member = (usize::from(place.row), usize::from(place.chain));
        let at = kthread.members.iter().position(|&other| other == member).unwrap();
        kthread.members.swap_remove(at);
        if !kthread.members.is_empty() {
            self.add_ktid = self.add_ktid.min(slot);
        } else if slot > 0 {
            self.kthreads[slot] = None;
            while self.kthreads.len() > 1 && self.kthreads.last().is_some_and(Option::is_none) {
                self.kthreads.pop();
            }
            if slot == self.add_ktid {
                self.choose();
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Enqueue { delay: usize, count: usize },
    Remove { at: u64, count: usize },
    Tick { slot: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let delay = prop_oneof![3 => Just(INITIAL_DELAY), 1 => 0..ROWS];
    let step = prop_oneof![
        4 => (delay, 1_usize..40).prop_map(|(delay, count)| Step::Enqueue { delay, count }),
        2 => (any::<u64>(), 1_usize..60).prop_map(|(at, count)| Step::Remove { at, count }),
        3 => (0_usize..6).prop_map(|slot| Step::Tick { slot }),
    ];
    proptest::collection::vec(step, 0..60)
}

fn compare(layout: &Layout, twin: &Twin) -> Result<(), TestCaseError> {
    prop_assert_eq!(layout.slots(), twin.kthreads.len());
    for (slot, expected) in twin.kthreads.iter().enumerate() {
        let Some(expected) = expected else {
            prop_assert!(layout.get(slot).is_none());
            continue;
        };
        let kthread = layout.get(slot).unwrap();
        prop_assert_eq!(kthread.est_count() as usize, expected.members.len());
        for row in 0..ROWS {
            prop_assert_eq!(kthread.tick_len(row), expected.tick_len(row));
            let chains = (0..twin.limits.chains as usize).map(|c| expected.chain_len(row, c));
            prop_assert_eq!(kthread.longest_chain(row), chains.max().unwrap());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn counted_chains_are_those_of_the_kernels_rules(steps in steps(), single in any::<bool>()) {
        // Small limits, so that rows and kthreads fill up: 1 or 3 chains of 3 or 1.
        let algorithm = Algorithm::resolve(&Config::default());
        let (chains, chain_max) = if single { (1, 3) } else { (3, 1) };
        let limits = Limits { chains, chain_max, tick_max: 3, est_max_count: 150 };
        let mut layout = Layout::new(&algorithm);
        layout.reset(&algorithm, 1, 4);
        layout.set_limits(limits);
        let max_threads = layout.max_threads() as usize;
        let mut twin = Twin { kthreads: Vec::new(), add_ktid: 0, limits, max_threads };
        let mut next_tag = 0;
        for step in steps {
            match step {
                Step::Enqueue { delay, count } => for _ in 0..count {
                    let tag = if next_tag < 4 { next_tag } else { UNTAGGED };
                    next_tag += 1;
                    let expected = twin.enqueue(delay);
                    let got = layout.enqueue(delay, tag).map(|enqueued| {
                        let Place { kthread, row, chain } = enqueued.place;
                        (kthread as usize, usize::from(row), usize::from(chain))
                    });
                    prop_assert_eq!(got, expected);
                    if tag != UNTAGGED && got.is_some() {
                        prop_assert!(layout.place(tag).is_some());
                    }
                },
                Step::Remove { at, count } => for _ in 0..count {
                    let Some((place, tag)) = layout.nth(at % layout.linked().max(1)) else {
                        break;
                    };
                    layout.remove(place, tag);
                    twin.remove(place);
                    if tag != UNTAGGED {
                        prop_assert!(layout.place(tag).is_none());
                    }
                },
                Step::Tick { slot } => if let Some(Some(kthread)) = twin.kthreads.get_mut(slot) {
                    kthread.est_row = (kthread.est_row + 1) % ROWS;
                    layout.set_est_row(slot, kthread.est_row);
                },
            }
            compare(&layout, &twin)?;
        }
    }
}
