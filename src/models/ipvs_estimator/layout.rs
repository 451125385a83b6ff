//! The chains: which estimator sits in which row of which kthread.
//!
//! Estimators are counted, chain by chain; only those with a tag (the followed services, the
//! namespace's totals) are known one by one. Source of the rules: `ip_vs_enqueue_estimator`,
//! `ip_vs_est_add_kthread`, `ip_vs_est_update_ktid` and `ip_vs_stop_estimator` of Linux 6.2.

use super::algorithm::{Algorithm, Limits, Placement, ROWS};
use super::chains::{Kthread, first_set};
pub(super) use super::chains::{Place, Tag, UNTAGGED};

/// What enqueueing one estimator did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Enqueued {
    pub place: Place,
    /// A kthread was created for it.
    pub created: bool,
}

#[derive(Clone, Copy, Debug)]
struct TagNode {
    next: Tag,
    place: Option<Place>,
}

/// All kthreads' chains: `est_kt_arr` with its bookkeeping.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    kthreads: Vec<Kthread>,
    /// Slots in use, holes included: `est_kt_count`.
    count: usize,
    /// Slot where the next estimator goes: `est_add_ktid`.
    add_ktid: usize,
    max_threads: u32,
    placement: Placement,
    limits: Limits,
    tags: Vec<TagNode>,
    linked: u64,
}

impl Layout {
    /// No kthreads, limits of `algorithm`.
    pub fn new(algorithm: &Algorithm) -> Self {
        Self {
            kthreads: Vec::new(),
            count: 0,
            add_ktid: 0,
            max_threads: 1,
            placement: algorithm.placement,
            limits: algorithm.limits(algorithm.chain_max),
            tags: Vec::new(),
            linked: 0,
        }
    }

    /// No kthreads; `tags` estimators will be known one by one.
    pub fn reset(&mut self, algorithm: &Algorithm, cpus: u32, tags: usize) {
        for kthread in &mut self.kthreads {
            kthread.exists = false;
        }
        self.count = 0;
        self.add_ktid = 0;
        self.limits = algorithm.limits(algorithm.chain_max);
        self.max_threads = algorithm.max_threads(cpus);
        self.linked = 0;
        self.tags.clear();
        self.tags.resize(tags, TagNode { next: UNTAGGED, place: None });
    }

    pub fn set_max_threads(&mut self, max_threads: u32) {
        self.max_threads = max_threads;
    }

    pub fn max_threads(&self) -> u32 {
        self.max_threads
    }

    /// Applies new limits to kthread 0 and to those created from now on, and lets new
    /// estimators go before the row that is next: the end of `ip_vs_est_calc_phase`.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
        if let Some(kthread) = self.kthreads.first_mut().filter(|kthread| kthread.exists) {
            kthread.limits = limits;
            kthread.add_row = kthread.est_row;
        }
    }

    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Slots in use, holes included.
    pub fn slots(&self) -> usize {
        self.count
    }

    pub fn get(&self, slot: usize) -> Option<&Kthread> {
        self.kthreads.get(slot).filter(|kthread| slot < self.count && kthread.exists)
    }

    pub fn set_est_row(&mut self, slot: usize, row: usize) {
        if let Some(kthread) = self.kthreads.get_mut(slot) {
            kthread.est_row = row;
        }
    }

    pub fn kthreads(&self) -> usize {
        self.kthreads[..self.count].iter().filter(|kthread| kthread.exists).count()
    }

    /// Estimators in chains.
    pub fn linked(&self) -> u64 {
        self.linked
    }

    /// How many estimators can be known one by one.
    pub fn tags(&self) -> usize {
        self.tags.len()
    }

    pub fn place(&self, tag: Tag) -> Option<Place> {
        self.tags[tag as usize].place
    }

    /// Makes sure that kthread 0 exists; true when it had to be created.
    pub fn ensure_first(&mut self) -> bool {
        let missing = self.get(0).is_none();
        if missing {
            self.create(0);
        }
        missing
    }

    fn create(&mut self, slot: usize) {
        let limits = self.limits;
        match self.kthreads.get_mut(slot) {
            Some(kthread) => kthread.renew(limits),
            None => self.kthreads.push(Kthread::new(limits)),
        }
        self.count = self.count.max(slot + 1);
        self.add_ktid = slot;
    }

    /// Links an estimator that wants to be estimated in `delay` ticks; `None` when it would take
    /// a kthread more than are allowed.
    pub fn enqueue(&mut self, delay: usize, tag: Tag) -> Option<Enqueued> {
        let created = self.get(self.add_ktid).is_none();
        if created {
            if self.count >= self.max_threads as usize {
                return None;
            }
            let hole = (0..self.count).find(|&slot| !self.kthreads[slot].exists);
            self.create(hole.unwrap_or(self.count));
        }
        let slot = self.add_ktid;
        let kthread = &mut self.kthreads[slot];
        let row = kthread.find_row(delay, self.placement);
        let chain = kthread.link(row);
        let place = Place { kthread: slot as u32, row: row as u8, chain };
        if tag != UNTAGGED {
            let next = std::mem::replace(&mut kthread.rows[row].first_tag, tag);
            self.tags[tag as usize] = TagNode { next, place: Some(place) };
        }
        self.linked += 1;
        if !self.kthreads[slot].has_room() {
            self.choose_slot();
        }
        Some(Enqueued { place, created })
    }

    /// The lowest slot with room, else the lowest empty slot, else a new one.
    fn choose_slot(&mut self) {
        let slots = &self.kthreads[..self.count];
        let with_room = slots.iter().position(|kthread| kthread.exists && kthread.has_room());
        let empty = || slots.iter().position(|kthread| !kthread.exists);
        self.add_ktid = with_room.or_else(empty).unwrap_or(self.count);
    }

    /// Unlinks an estimator. True when its kthread, left without any, is gone; kthread 0 stays.
    pub fn remove(&mut self, place: Place, tag: Tag) -> bool {
        if tag != UNTAGGED {
            self.unlink_tag(place, tag);
        }
        let slot = place.kthread as usize;
        let kthread = &mut self.kthreads[slot];
        kthread.unlink(place);
        self.linked -= 1;
        if kthread.est_count > 0 {
            self.add_ktid = self.add_ktid.min(slot);
            return false;
        }
        if slot == 0 {
            return false;
        }
        kthread.exists = false;
        if slot == self.count - 1 {
            while self.count > 1 && !self.kthreads[self.count - 1].exists {
                self.count -= 1;
            }
        }
        if slot == self.add_ktid {
            self.choose_slot();
        }
        true
    }

    /// Frees kthread 0 when it is the last and has nothing; true when it was freed.
    pub fn free_first(&mut self) -> bool {
        let free = self.count == 1 && self.get(0).is_some_and(|kthread| kthread.est_count == 0);
        if free {
            self.kthreads[0].exists = false;
            self.count = 0;
            self.add_ktid = 0;
        }
        free
    }

    fn unlink_tag(&mut self, place: Place, tag: Tag) {
        let row = &mut self.kthreads[place.kthread as usize].rows[usize::from(place.row)];
        let after = self.tags[tag as usize].next;
        self.tags[tag as usize] = TagNode { next: UNTAGGED, place: None };
        if row.first_tag == tag {
            row.first_tag = after;
            return;
        }
        let mut at = row.first_tag;
        while at != UNTAGGED {
            let next = self.tags[at as usize].next;
            if next == tag {
                self.tags[at as usize].next = after;
                return;
            }
            at = next;
        }
    }

    /// The tagged estimators of a row.
    pub fn tags_of(&self, slot: usize, row: usize) -> impl Iterator<Item = Tag> + '_ {
        let known = |tag: Tag| (tag != UNTAGGED).then_some(tag);
        let first = self.get(slot).and_then(|kthread| known(kthread.rows[row].first_tag));
        std::iter::successors(first, move |&tag| known(self.tags[tag as usize].next))
    }

    /// The linked estimator number `index` of all, in some fixed order.
    pub fn nth(&self, mut index: u64) -> Option<(Place, Tag)> {
        let skip = |index: &mut u64, length: u32| {
            let inside = *index < u64::from(length);
            if !inside {
                *index -= u64::from(length);
            }
            inside
        };
        let slot = (0..self.count).find(|&slot| {
            let kthread = &self.kthreads[slot];
            kthread.exists && skip(&mut index, kthread.est_count)
        })?;
        let kthread = &self.kthreads[slot];
        let row = (0..ROWS).find(|&row| skip(&mut index, kthread.rows[row].length))?;
        let chain_len = &kthread.rows[row].chain_len;
        let chain = (0..chain_len.len()).find(|&chain| skip(&mut index, chain_len[chain]))?;
        let place = Place { kthread: slot as u32, row: row as u8, chain: chain as u8 };
        Some((place, self.tag_of_chain(place, index)))
    }

    /// The first estimator of the first chain of a row.
    pub fn first_of_row(&self, slot: usize, row: usize) -> Option<(Place, Tag)> {
        let present = self.get(slot)?.rows[row].present;
        let chain = first_set(present)? as u8;
        let place = Place { kthread: slot as u32, row: row as u8, chain };
        Some((place, self.tag_of_chain(place, 0)))
    }

    /// The tagged estimator number `index` of a chain, [`UNTAGGED`] past the last: as if the
    /// tagged ones were the first of their chain.
    fn tag_of_chain(&self, place: Place, index: u64) -> Tag {
        self.tags_of(place.kthread as usize, usize::from(place.row))
            .filter(|&tag| self.tags[tag as usize].place == Some(place))
            .nth(usize::try_from(index).unwrap_or(usize::MAX))
            .unwrap_or(UNTAGGED)
    }
}
