//! The listening socket: half-open handshakes and the accept queue, as Linux keeps them.
//!
//! Sources: Linux 6.18 `net/ipv4/tcp_input.c` (`tcp_conn_request`), `net/ipv4/tcp_minisocks.c`
//! (`tcp_check_req`), `include/net/sock.h` (`sk_acceptq_is_full`, whose test is `>`: a queue of
//! backlog b holds b + 1), `include/net/inet_connection_sock.h` (`inet_csk_reqsk_queue_is_full`,
//! which compares in the same way).

use std::collections::VecDeque;

/// What becomes of a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynOutcome {
    /// Answered, and remembered as half open.
    HalfOpen,
    /// Answered with a cookie, and forgotten.
    Cookie,
    /// Dropped without a word.
    Dropped,
}

/// The state of one listening socket.
#[derive(Clone, Debug, Default)]
pub struct ListenQueue {
    backlog: usize,
    syncookies: bool,
    queue: VecDeque<u32>,
    half_open: usize,
    greatest: usize,
    /// `ListenOverflows`: SYNs and handshakes turned away because the accept queue was full.
    pub overflows: u64,
    /// `TCPReqQFullDrop`: SYNs dropped because too many handshakes were half open.
    pub half_open_drops: u64,
    /// `TCPReqQFullDoCookies`: SYNs answered with a cookie for the same reason.
    pub cookies: u64,
}

impl ListenQueue {
    /// A socket with `listen(fd, backlog)` under a limit of `somaxconn`.
    #[must_use]
    pub fn new(backlog: u32, somaxconn: u32, syncookies: bool) -> Self {
        Self { backlog: backlog.min(somaxconn) as usize, syncookies, ..Self::default() }
    }

    /// Empty again; keeps the memory.
    pub fn reset(&mut self) {
        self.queue.clear();
        self.half_open = 0;
        self.greatest = 0;
        self.overflows = 0;
        self.half_open_drops = 0;
        self.cookies = 0;
    }

    /// A SYN has arrived.
    pub fn syn(&mut self) -> SynOutcome {
        if self.is_full() {
            self.overflows += 1;
            return SynOutcome::Dropped;
        }
        if self.half_open <= self.backlog {
            self.half_open += 1;
            return SynOutcome::HalfOpen;
        }
        if self.syncookies {
            self.cookies += 1;
            return SynOutcome::Cookie;
        }
        self.half_open_drops += 1;
        SynOutcome::Dropped
    }

    /// A segment with the handshake's last ACK has arrived (alone or with data): true when the
    /// connection is now in the accept queue, false when the segment was dropped.
    pub fn complete(&mut self, connection: u32, half_open: bool) -> bool {
        if self.is_full() {
            self.overflows += 1;
            return false;
        }
        self.half_open -= usize::from(half_open);
        self.queue.push_back(connection);
        self.greatest = self.greatest.max(self.queue.len());
        true
    }

    /// A half-open handshake was given up.
    pub fn forget_half_open(&mut self) {
        self.half_open -= 1;
    }

    /// `accept()`: the connection that has waited longest.
    pub fn accept(&mut self) -> Option<u32> {
        self.queue.pop_front()
    }

    /// True when there is nothing to accept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Connections in the accept queue.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// The most connections that were in the queue at once.
    #[must_use]
    pub fn greatest(&self) -> usize {
        self.greatest
    }

    /// `sk_acceptq_is_full`.
    fn is_full(&self) -> bool {
        self.queue.len() > self.backlog
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_of_backlog_b_holds_one_more() {
        let mut queue = ListenQueue::new(128, 4096, true);
        for connection in 0..129 {
            assert_eq!(queue.syn(), SynOutcome::HalfOpen);
            assert!(queue.complete(connection, true));
        }
        assert_eq!((queue.syn(), queue.greatest(), queue.overflows), (SynOutcome::Dropped, 129, 1));
    }

    #[test]
    fn the_backlog_is_cut_to_somaxconn() {
        let mut queue = ListenQueue::new(2048, 16, true);
        let taken =
            (0..100).filter(|&c| queue.syn() == SynOutcome::HalfOpen && queue.complete(c, true));
        assert_eq!(taken.count(), 17);
    }

    /// Case k05: of 90 SYNs in one batch on an empty queue of backlog 8, nine go through without
    /// cookies.
    #[test]
    fn without_cookies_a_batch_of_syns_gets_backlog_plus_one_through() {
        let mut queue = ListenQueue::new(8, 4096, false);
        let through = (0..90).filter(|_| queue.syn() == SynOutcome::HalfOpen).count();
        assert_eq!((through, queue.half_open_drops), (9, 81));
    }

    /// Case u03: with cookies all 91 connect, nine fit, the last ACKs of 82 are dropped.
    #[test]
    fn with_cookies_all_connect_and_the_acks_overflow() {
        let mut queue = ListenQueue::new(8, 4096, true);
        let outcomes: Vec<_> = (0..91).map(|_| queue.syn()).collect();
        assert!(!outcomes.contains(&SynOutcome::Dropped));
        let dropped = outcomes
            .iter()
            .zip(0..)
            .filter(|&(outcome, c)| !queue.complete(c, *outcome == SynOutcome::HalfOpen))
            .count();
        assert_eq!((dropped, queue.cookies, queue.overflows), (82, 82, 82));
    }

    #[test]
    fn accepting_frees_one_place_in_order() {
        let mut queue = ListenQueue::new(0, 4096, true);
        queue.syn();
        assert!(queue.complete(7, true));
        assert_eq!(queue.syn(), SynOutcome::Dropped);
        assert_eq!(queue.accept(), Some(7));
        assert_eq!(queue.syn(), SynOutcome::HalfOpen);
    }
}
