//! What was asked for, for as long as anything may still execute it.
//!
//! A client that has left, or has gone on to its next request, leaves connections behind whose
//! requests are executed later. A toggle that is executed for nobody sets its port all the same, so
//! each request is remembered until its client is done with it and no connection carries it any
//! more. Memory follows the most that coexist, not their number in all.

/// One request, whichever attempts are made at it.
#[derive(Clone, Copy, Debug)]
struct Asked {
    port: u64,
    executed: bool,
    /// Its client, and connections that carry it.
    holders: u32,
}

/// The requests that somebody holds. [`super::connection::NONE`] names no request.
#[derive(Clone, Debug, Default)]
pub struct AskedRequests {
    entries: Vec<Asked>,
    free: Vec<u32>,
}

impl AskedRequests {
    /// None; keeps the memory.
    pub fn reset(&mut self) {
        self.entries.clear();
        self.free.clear();
    }

    /// A new request about `port`, held once.
    pub fn begin(&mut self, port: u64) -> u32 {
        let asked = Asked { port, executed: false, holders: 1 };
        if let Some(index) = self.free.pop() {
            self.entries[index as usize] = asked;
            return index;
        }
        self.entries.push(asked);
        self.entries.len() as u32 - 1
    }

    /// One more holder.
    pub fn hold(&mut self, request: u32) {
        if let Some(asked) = self.entries.get_mut(request as usize) {
            asked.holders += 1;
        }
    }

    /// One holder less.
    pub fn release(&mut self, request: u32) {
        let Some(asked) = self.entries.get_mut(request as usize) else { return };
        asked.holders -= 1;
        if asked.holders == 0 {
            self.free.push(request);
        }
    }

    /// The port that it is about; 0 for none.
    pub fn port(&self, request: u32) -> u64 {
        self.entries.get(request as usize).map_or(0, |asked| asked.port)
    }

    /// It has been executed: true the first time.
    pub fn execute(&mut self, request: u32) -> bool {
        let asked = self.entries.get_mut(request as usize);
        asked.is_some_and(|asked| !std::mem::replace(&mut asked.executed, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_remembered_until_its_last_holder_lets_go() {
        let mut requests = AskedRequests::default();
        let first = requests.begin(7);
        requests.hold(first);
        requests.release(first);
        assert_eq!(requests.port(first), 7);
        assert!(requests.execute(first) && !requests.execute(first));
        requests.release(first);
        assert_eq!(requests.begin(8), first);
    }
}
