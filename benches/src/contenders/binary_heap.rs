use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Agenda, Contender, Model};

const SLOT_BITS: u32 = 20;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
/// No event has this sequence number: the timer is idle.
const IDLE: u64 = u64::MAX;

/// The plain way: std's `BinaryHeap` of `u128` keys, time (64) | sequence (44) | timer (20), and
/// nothing around it. A cancelled event stays in the heap and is dropped when it comes up.
#[derive(Debug)]
pub struct HeapContender<M: Model<u32>> {
    model: M,
    now: u64,
    sequence: u64,
    heap: BinaryHeap<Reverse<u128>>,
    events: Vec<Option<M::Event>>,
    /// The sequence number of each timer's pending event; only kept for a model that cancels.
    pending: Vec<u64>,
}

impl<M: Model<u32>> HeapContender<M> {
    /// `model` with its first events armed.
    pub fn new(model: M) -> Self {
        let mut contender = Self {
            model,
            now: 0,
            sequence: 0,
            heap: BinaryHeap::new(),
            events: Vec::new(),
            pending: Vec::new(),
        };
        M::start(&mut contender);
        contender
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }
}

impl<M: Model<u32>> Contender for HeapContender<M> {
    fn advance(&mut self, events: u64) {
        let mut left = events;
        while left > 0 {
            let Some(Reverse(key)) = self.heap.pop() else {
                break;
            };
            let low = key as u64;
            let timer = (low & SLOT_MASK) as usize;
            if M::CANCELS {
                if self.pending[timer] != low >> SLOT_BITS {
                    continue;
                }
                self.pending[timer] = IDLE;
            }
            left -= 1;
            self.now = (key >> 64) as u64;
            if let Some(event) = self.events[timer] {
                M::handle(self, event);
            }
        }
    }

    fn digest(&self) -> u64 {
        self.model.digest()
    }
}

impl<M: Model<u32>> Agenda<u32, M> for HeapContender<M> {
    #[inline]
    fn model(&mut self) -> &mut M {
        &mut self.model
    }

    #[inline]
    fn now(&self) -> u64 {
        self.now
    }

    fn add_timer(&mut self) -> u32 {
        self.events.push(None);
        self.pending.push(IDLE);
        self.events.len() as u32 - 1
    }

    #[inline]
    fn arm(&mut self, timer: u32, delay: u64, event: M::Event) {
        let low = (self.sequence << SLOT_BITS) | u64::from(timer);
        let key = (u128::from(self.now + delay) << 64) | u128::from(low);
        self.heap.push(Reverse(key));
        self.events[timer as usize] = Some(event);
        if M::CANCELS {
            self.pending[timer as usize] = self.sequence;
        }
        self.sequence += 1;
    }

    #[inline]
    fn disarm(&mut self, timer: u32) {
        self.pending[timer as usize] = IDLE;
    }
}
