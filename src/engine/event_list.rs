//! The event list: an indexed 4-ary heap over timer slots.
//!
//! Every entity owns a slot with at most one pending event, so the slot is the handle by which
//! its event is moved or removed. The key of an event packs
//!
//! ```text
//! time in ns (64) | priority class (3) | sequence (40) | slot (20) | stale (1)
//! ```
//!
//! into one `u128`: a single comparison orders by time, then class, then first in first out.
//!
//! Five measures keep the common cases cheap:
//! - an event that is removed, or moved to later, stays where it is and is only marked as stale:
//!   what became of it is looked up when it comes to the root. A timeout that is set anew for every
//!   request and hardly ever goes off costs two writes a request, not two passes through the heap;
//! - the four children of a node share one 64-byte cache line, and the least of them is chosen
//!   without a branch;
//! - taking the earliest event leaves the root vacant, and the next `arm` fills it with a single
//!   sift down, so the usual "pop one, arm one" costs one pass instead of two;
//! - events for the current instant go to a plain first-in first-out queue;
//! - the way of an event through `pop_until` and `arm` is compiled into the simulation loop, with
//!   calls only where something unusual happens (`inline(always)`, worth 10 % of a run).

use std::collections::VecDeque;

use super::time::SimTime;

/// Most timer slots in one simulation (20 bits).
pub const MAX_SLOTS: usize = 1 << SLOT_BITS;
/// Most events scheduled in one run (40 bits of sequence number).
pub const MAX_SEQUENCE: u64 = 1 << SEQUENCE_BITS;

const SLOT_BITS: u32 = 20;
const SEQUENCE_BITS: u32 = 40;
const SLOT_SHIFT: u32 = 1;
const SEQUENCE_SHIFT: u32 = SLOT_SHIFT + SLOT_BITS;
const CLASS_SHIFT: u32 = SEQUENCE_SHIFT + SEQUENCE_BITS;
const TIME_SHIFT: u32 = 64;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
/// Flags a key in the heap that no longer counts: `EventList::due` says what does. Below the
/// sequence number, it decides no comparison.
const STALE: u128 = 1;

/// `position` of a slot without a pending event.
const NONE: u32 = u32::MAX;
/// Flags the `position` of a slot whose event is in the queue for the current instant; the bits
/// of `TICKET_MASK` then number its entry.
const IMMEDIATE: u32 = 1 << 31;
const TICKET_MASK: u32 = (1 << 30) - 1;

/// The root's place in the padded array: the children of every place then fill a cache line.
const ROOT: usize = 3;
/// Where there is no event; greater than every key, so that it never wins a comparison.
const VACANT: u128 = u128::MAX;
/// What a vacant root holds; smaller than every key, so that nothing rises into it. (A key of
/// zero would be slot 0 at time 0 in class `FIRST`, and could only ever be the root itself.)
const VACANT_ROOT: u128 = 0;

/// Ties at one instant run by class, lowest first, then in scheduling order.
///
/// `NORMAL` serves nearly always. `FIRST` and `LAST` exist for events that must see the state
/// before or after everything else at their instant (a probe, a deadline).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PriorityClass(u8);

impl PriorityClass {
    /// Before all other events of the same instant.
    pub const FIRST: Self = Self(0);
    /// The class of an ordinary event.
    pub const NORMAL: Self = Self(4);
    /// After all other events of the same instant.
    pub const LAST: Self = Self(7);
}

/// Four keys on one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([u128; 4]);

/// A set of pending events, at most one for each slot.
#[derive(Clone, Debug)]
pub struct EventList {
    lines: Vec<Line>,
    /// The first place past the heap; a vacant root counts as part of it.
    end: usize,
    root_is_vacant: bool,
    /// Where each slot's key is.
    position: Vec<u32>,
    /// The key that counts for a slot whose key in the heap is stale: a later one, or `VACANT` when
    /// the event was removed.
    due: Vec<u128>,
    /// Keys in the heap whose event was removed.
    removed: usize,
    /// Keys of events at the current instant, first in first out; a removed one stays behind
    /// as `VACANT`.
    immediate: VecDeque<u128>,
    /// Keys of `immediate` that still count.
    immediate_live: usize,
    /// Entries ever taken off the front of `immediate`, which makes a ticket an index.
    immediate_taken: u32,
    /// Sequence number of the next event.
    sequence: u64,
}

impl Default for EventList {
    fn default() -> Self {
        Self::new()
    }
}

impl EventList {
    /// An empty list without slots.
    #[must_use]
    pub fn new() -> Self {
        Self {
            lines: vec![Line([VACANT; 4])],
            end: ROOT,
            root_is_vacant: false,
            position: Vec::new(),
            due: Vec::new(),
            removed: 0,
            immediate: VecDeque::new(),
            immediate_live: 0,
            immediate_taken: 0,
            sequence: 0,
        }
    }

    /// Forgets all events and slots, keeping the memory.
    pub fn clear(&mut self) {
        let used_lines = self.end.div_ceil(4);
        self.lines[..used_lines].fill(Line([VACANT; 4]));
        self.end = ROOT;
        self.root_is_vacant = false;
        self.position.clear();
        self.due.clear();
        self.removed = 0;
        self.immediate.clear();
        self.immediate_live = 0;
        self.immediate_taken = 0;
        self.sequence = 0;
    }

    /// Adds a slot, or returns `None` when all [`MAX_SLOTS`] are taken.
    pub fn add_slot(&mut self) -> Option<u32> {
        let slot = self.position.len();
        if slot >= MAX_SLOTS {
            return None;
        }
        self.position.push(NONE);
        self.due.push(VACANT);
        Some(slot as u32)
    }

    /// How many events are pending.
    #[must_use]
    pub fn len(&self) -> usize {
        self.end - ROOT - usize::from(self.root_is_vacant) - self.removed + self.immediate_live
    }

    /// True when nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True when `slot` has a pending event.
    #[must_use]
    pub fn is_armed(&self, slot: u32) -> bool {
        self.deadline(slot).is_some()
    }

    /// When `slot`'s event is due.
    #[must_use]
    pub fn deadline(&self, slot: u32) -> Option<SimTime> {
        let key = match self.position[slot as usize] {
            NONE => return None,
            ticket if ticket & IMMEDIATE != 0 => self.immediate[self.immediate_index(ticket)],
            place => self.key_that_counts(slot, self.key(place as usize)),
        };
        (key != VACANT).then(|| time_of(key))
    }

    /// Sequence numbers used so far, which is the number of events ever armed.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Arms `slot` for `time`; a pending event of the slot is moved, and queues up again
    /// behind those already armed for the same instant. The caller must not arm before the time
    /// of the event popped last.
    #[inline(always)]
    pub fn arm(&mut self, slot: u32, time: SimTime, class: PriorityClass) {
        let sequence = self.next_sequence();
        self.put_in(slot, key_of(time, class, sequence, slot));
    }

    /// Takes a sequence number for an event of the normal class that may never be armed.
    #[inline]
    pub fn take_place(&mut self) -> u64 {
        self.next_sequence()
    }

    /// Arms `slot`, in the normal class, as if it had been armed for `time` when `place` was taken.
    pub fn arm_in_place(&mut self, slot: u32, time: SimTime, place: u64) {
        self.put_in(slot, key_of(time, PriorityClass::NORMAL, place, slot));
    }

    /// Whether the event of such an arming would come before all that are pending.
    #[inline]
    pub fn would_be_next(&mut self, slot: u32, time: SimTime, place: u64) -> bool {
        let key = key_of(time, PriorityClass::NORMAL, place, slot);
        (key < self.no_later_than_heap() || key < self.peek_heap()) && key < self.peek_immediate()
    }

    #[inline(always)]
    fn put_in(&mut self, slot: u32, key: u128) {
        match self.position[slot as usize] {
            NONE => self.insert(key),
            ticket if ticket & IMMEDIATE != 0 => {
                self.remove_immediate(ticket);
                self.insert(key);
            }
            place => self.move_to(slot, place as usize, key),
        }
    }

    /// Arms `slot` for `now`, the current instant, in the normal class, at constant cost.
    pub fn arm_immediately(&mut self, slot: u32, now: SimTime) {
        match self.position[slot as usize] {
            NONE => {}
            ticket if ticket & IMMEDIATE != 0 => self.remove_immediate(ticket),
            place => self.remove(slot, place as usize),
        }
        let sequence = self.next_sequence();
        let key = key_of(now, PriorityClass::NORMAL, sequence, slot);
        let ticket = self.immediate_taken.wrapping_add(self.immediate.len() as u32) & TICKET_MASK;
        self.immediate.push_back(key);
        self.immediate_live += 1;
        self.position[slot as usize] = IMMEDIATE | ticket;
    }

    /// Removes the pending event of `slot`; false when there was none.
    pub fn disarm(&mut self, slot: u32) -> bool {
        match self.position[slot as usize] {
            NONE => false,
            ticket if ticket & IMMEDIATE != 0 => {
                self.remove_immediate(ticket);
                self.position[slot as usize] = NONE;
                true
            }
            place => {
                let key = self.key_mut(place as usize);
                let was_stale = *key & STALE != 0;
                *key |= STALE;
                let due = std::mem::replace(&mut self.due[slot as usize], VACANT);
                let was_armed = !was_stale || due != VACANT;
                self.removed += usize::from(was_armed);
                was_armed
            }
        }
    }

    /// Time of the earliest event.
    pub fn peek(&mut self) -> Option<SimTime> {
        let key = self.peek_heap().min(self.peek_immediate());
        (key != VACANT).then(|| time_of(key))
    }

    /// Takes the earliest event if it is due at or before `horizon`.
    #[inline(always)]
    pub fn pop_until(&mut self, horizon: SimTime) -> Option<(SimTime, u32)> {
        let heap = self.peek_heap();
        let immediate = self.peek_immediate();
        let from_heap = heap < immediate;
        let key = if from_heap { heap } else { immediate };
        if key == VACANT || time_of(key) > horizon {
            return None;
        }
        if from_heap {
            self.root_is_vacant = true;
            *self.key_mut(ROOT) = VACANT_ROOT;
        } else {
            self.take_immediate();
            self.immediate_live -= 1;
        }
        let slot = slot_of(key);
        self.position[slot as usize] = NONE;
        Some((time_of(key), slot))
    }

    #[inline]
    fn next_sequence(&mut self) -> u64 {
        let sequence = self.sequence;
        self.sequence += 1;
        debug_assert!(sequence < MAX_SEQUENCE, "the engine stops a run before this");
        sequence
    }

    #[inline]
    fn peek_immediate(&mut self) -> u128 {
        while let Some(&key) = self.immediate.front() {
            if key != VACANT {
                return key;
            }
            self.take_immediate();
        }
        VACANT
    }

    fn take_immediate(&mut self) {
        self.immediate.pop_front();
        self.immediate_taken = self.immediate_taken.wrapping_add(1) & TICKET_MASK;
    }

    fn immediate_index(&self, ticket: u32) -> usize {
        (ticket.wrapping_sub(self.immediate_taken) & TICKET_MASK) as usize
    }

    fn remove_immediate(&mut self, ticket: u32) {
        let index = self.immediate_index(ticket);
        self.immediate[index] = VACANT;
        self.immediate_live -= 1;
    }

    /// The earliest key of the heap that counts, after filling a vacant root.
    #[inline]
    fn peek_heap(&mut self) -> u128 {
        if self.root_is_vacant {
            self.fill_root();
        }
        let key = self.key(ROOT);
        if key & STALE == 0 { key } else { self.refresh_root() }
    }

    /// A key that no key in the heap is before: that of the root, or of a child of a vacant root,
    /// which stays vacant for what may be armed next. Stale keys are before what counts.
    #[inline]
    fn no_later_than_heap(&self) -> u128 {
        if !self.root_is_vacant {
            return self.key(ROOT);
        }
        match self.lines.get(line_of_children(ROOT)) {
            Some(&Line([a, b, c, d])) => a.min(b).min(c.min(d)),
            None => VACANT,
        }
    }

    /// Puts what has come to the root and no longer counts where it belongs, until something does.
    #[inline(never)]
    fn refresh_root(&mut self) -> u128 {
        loop {
            let key = self.key(ROOT);
            if key & STALE == 0 || key == VACANT {
                return key;
            }
            let slot = slot_of(key);
            match self.due[slot as usize] {
                VACANT => {
                    self.position[slot as usize] = NONE;
                    self.removed -= 1;
                    self.fill_root();
                }
                due => self.sift_down(ROOT, due),
            }
        }
    }

    #[inline(never)]
    fn fill_root(&mut self) {
        self.root_is_vacant = false;
        let last = self.take_last();
        if self.end > ROOT {
            self.sift_down(ROOT, last);
        }
    }

    #[inline(always)]
    fn insert(&mut self, key: u128) {
        if self.root_is_vacant {
            self.root_is_vacant = false;
            self.sift_down(ROOT, key);
        } else {
            let place = self.end;
            self.end += 1;
            if place >> 2 >= self.lines.len() {
                self.lines.push(Line([VACANT; 4]));
            }
            self.sift_up(place, key);
        }
    }

    /// Takes the key of `slot` out of the heap for good.
    fn remove(&mut self, slot: u32, place: usize) {
        let key = self.key(place);
        self.removed -= usize::from(self.key_that_counts(slot, key) == VACANT);
        let last = self.take_last();
        if place == self.end {
            return;
        }
        if place > ROOT && last < self.key(parent_of(place)) {
            self.sift_up(place, last);
        } else {
            self.sift_down(place, last);
        }
    }

    /// Gives `slot`, whose key is at `place`, another one: later it is only noted.
    #[inline(never)]
    fn move_to(&mut self, slot: u32, place: usize, key: u128) {
        let before = self.key(place);
        self.removed -= usize::from(self.key_that_counts(slot, before) == VACANT);
        if key < before {
            self.sift_up(place, key);
        } else {
            self.due[slot as usize] = key;
            *self.key_mut(place) = before | STALE;
        }
    }

    /// What counts for `slot`, whose key in the heap is `key`.
    #[inline]
    fn key_that_counts(&self, slot: u32, key: u128) -> u128 {
        if key & STALE == 0 { key } else { self.due[slot as usize] }
    }

    #[inline(always)]
    fn sift_up(&mut self, mut place: usize, key: u128) {
        while place > ROOT {
            let parent = parent_of(place);
            let parent_key = self.key(parent);
            if parent_key < key {
                break;
            }
            self.put(place, parent_key);
            place = parent;
        }
        self.put(place, key);
    }

    #[inline(always)]
    fn sift_down(&mut self, mut place: usize, key: u128) {
        let lines = self.lines.as_mut_slice();
        let position = self.position.as_mut_slice();
        // Places past the end hold VACANT, so that a whole line can be compared.
        while let Some(Line(children)) = lines.get(line_of_children(place)) {
            let (left, left_key) = smaller(0, children[0], 1, children[1]);
            let (right, right_key) = smaller(2, children[2], 3, children[3]);
            let (child, child_key) = smaller(left, left_key, right, right_key);
            if child_key >= key {
                break;
            }
            lines[place >> 2].0[place & 3] = child_key;
            position[slot_of(child_key) as usize] = place as u32;
            place = line_of_children(place) * 4 + child;
        }
        lines[place >> 2].0[place & 3] = key;
        position[slot_of(key) as usize] = place as u32;
    }

    #[inline]
    fn key(&self, place: usize) -> u128 {
        self.lines[place >> 2].0[place & 3]
    }

    #[inline]
    fn key_mut(&mut self, place: usize) -> &mut u128 {
        &mut self.lines[place >> 2].0[place & 3]
    }

    /// Shortens the heap by its last place and returns the key from there.
    #[inline]
    fn take_last(&mut self) -> u128 {
        self.end -= 1;
        std::mem::replace(self.key_mut(self.end), VACANT)
    }

    #[inline]
    fn put(&mut self, place: usize, key: u128) {
        *self.key_mut(place) = key;
        self.position[slot_of(key) as usize] = place as u32;
    }
}

#[inline]
fn key_of(time: SimTime, class: PriorityClass, sequence: u64, slot: u32) -> u128 {
    let low = (u64::from(class.0) << CLASS_SHIFT)
        | (sequence << SEQUENCE_SHIFT)
        | (u64::from(slot) << SLOT_SHIFT);
    (u128::from(time.as_nanos()) << TIME_SHIFT) | u128::from(low)
}

#[inline]
const fn line_of_children(place: usize) -> usize {
    place + 1 - ROOT
}

#[inline]
const fn parent_of(place: usize) -> usize {
    (place >> 2) + ROOT - 1
}

/// The smaller of two keys with its index, compiled to conditional moves.
#[inline]
fn smaller(a: usize, a_key: u128, b: usize, b_key: u128) -> (usize, u128) {
    let b_wins = b_key < a_key;
    (if b_wins { b } else { a }, if b_wins { b_key } else { a_key })
}

#[inline]
fn slot_of(key: u128) -> u32 {
    ((key as u64 >> SLOT_SHIFT) & SLOT_MASK) as u32
}

#[inline]
fn time_of(key: u128) -> SimTime {
    SimTime::from_nanos((key >> TIME_SHIFT) as u64)
}

#[cfg(test)]
mod tests;
