//! The rows and chains of one kthread.

use super::algorithm::{CHAIN_FACTOR, INITIAL_DELAY, Limits, Placement, ROWS};

/// An estimator that is known one by one; [`UNTAGGED`] for all others.
pub(super) type Tag = u32;
/// The tag of an estimator that is only counted.
pub(super) const UNTAGGED: Tag = Tag::MAX;

/// A place in a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub kthread: u32,
    pub row: u8,
    pub chain: u8,
}

#[derive(Clone, Debug)]
pub(super) struct Row {
    pub chain_len: [u32; CHAIN_FACTOR as usize],
    /// Bit set of chains with anything in them.
    pub present: u64,
    /// Bit set of chains that were filled and have lost nothing since.
    full: u64,
    pub length: u32,
    pub first_tag: Tag,
}

impl Row {
    const EMPTY: Self = Self {
        chain_len: [0; CHAIN_FACTOR as usize],
        present: 0,
        full: 0,
        length: 0,
        first_tag: UNTAGGED,
    };
}

/// The chains of one kthread: `struct ip_vs_est_kt_data`.
#[derive(Clone, Debug)]
pub(super) struct Kthread {
    pub rows: Vec<Row>,
    /// Bit set of rows with room.
    available: u64,
    /// The row to be estimated next.
    pub est_row: usize,
    /// Where the first estimators go: before this row.
    pub add_row: usize,
    burst_left: u32,
    pub est_count: u32,
    pub limits: Limits,
    /// False for a slot that is empty.
    pub exists: bool,
}

const ALL_ROWS: u64 = (1 << ROWS) - 1;

impl Kthread {
    pub fn new(limits: Limits) -> Self {
        Self {
            rows: vec![Row::EMPTY; ROWS],
            available: ALL_ROWS,
            est_row: 0,
            add_row: 0,
            burst_left: 0,
            est_count: 0,
            limits,
            exists: true,
        }
    }

    pub fn renew(&mut self, limits: Limits) {
        if self.est_count > 0 {
            self.rows.fill(Row::EMPTY);
        }
        self.available = ALL_ROWS;
        self.est_row = 0;
        self.add_row = 0;
        self.burst_left = 0;
        self.est_count = 0;
        self.limits = limits;
        self.exists = true;
    }

    /// Estimators of `row`.
    pub fn tick_len(&self, row: usize) -> u32 {
        self.rows[row].length
    }

    /// Estimators of the longest chain of `row`.
    pub fn longest_chain(&self, row: usize) -> u32 {
        let row = &self.rows[row];
        let mut longest = 0;
        let mut present = row.present;
        while present != 0 && longest < self.limits.chain_max {
            longest = longest.max(row.chain_len[present.trailing_zeros() as usize]);
            present &= present - 1;
        }
        longest
    }

    /// What part of its row is estimated before the middle of `chain`.
    pub fn share_before(&self, row: usize, chain: u8) -> f64 {
        let row = &self.rows[row];
        let chain = usize::from(chain);
        let before: u32 = row.chain_len[..chain].iter().sum();
        let middle = f64::from(before) + f64::from(row.chain_len[chain]) / 2.0;
        if row.length == 0 { 0.0 } else { middle / f64::from(row.length) }
    }

    pub fn est_count(&self) -> u32 {
        self.est_count
    }

    pub fn has_room(&self) -> bool {
        self.est_count < self.limits.est_max_count
    }

    /// The row for an estimator that wants to be estimated `delay` ticks from now.
    pub fn find_row(&mut self, delay: usize, placement: Placement) -> usize {
        if let Placement::Bursts(length) = placement {
            if self.burst_left == 0 {
                self.burst_left = length;
                self.add_row = (self.add_row + 1) % ROWS;
            }
            self.burst_left -= 1;
            return self.add_row;
        }
        let few = self.est_count < self.limits.tick_max.saturating_mul(2);
        let base = if few && delay >= INITIAL_DELAY { self.add_row } else { self.est_row };
        let wanted = (base + delay) % ROWS;
        if delay >= INITIAL_DELAY {
            last_set(self.available & up_to(wanted)).or_else(|| last_set(self.available))
        } else {
            first_set(self.available & !before(wanted)).or_else(|| first_set(self.available))
        }
        .unwrap_or(wanted)
    }

    pub fn link(&mut self, row_index: usize) -> u8 {
        let row = &mut self.rows[row_index];
        let chain = ((!row.full).trailing_zeros()).min(self.limits.chains - 1) as usize;
        self.est_count += 1;
        row.length += 1;
        row.chain_len[chain] += 1;
        row.present |= 1 << chain;
        if row.chain_len[chain] >= self.limits.chain_max {
            row.full |= 1 << chain;
            if row.length >= self.limits.tick_max {
                self.available &= !(1 << row_index);
            }
        }
        chain as u8
    }

    pub fn unlink(&mut self, place: Place) {
        let row = &mut self.rows[usize::from(place.row)];
        let chain = usize::from(place.chain);
        row.full &= !(1 << chain);
        row.chain_len[chain] -= 1;
        if row.chain_len[chain] == 0 {
            row.present &= !(1 << chain);
        }
        row.length -= 1;
        self.available |= 1 << place.row;
        self.est_count -= 1;
    }
}

fn last_set(bits: u64) -> Option<usize> {
    (bits != 0).then(|| bits.ilog2() as usize)
}

pub(super) fn first_set(bits: u64) -> Option<usize> {
    (bits != 0).then(|| bits.trailing_zeros() as usize)
}

fn before(row: usize) -> u64 {
    (1 << row) - 1
}

fn up_to(row: usize) -> u64 {
    before(row + 1)
}
