//! Ctrl-C and SIGTERM: what is complete goes to the disk, and the user is told how to go on.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::experiment::{Row, RowSink};
use signal_hook::consts::signal::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::low_level::unregister;
use signal_hook::{SigId, flag};

use super::merge::quoted;

/// What shells add to the number of a signal to name the exit code of what it ended.
const SIGNAL_EXIT: usize = 128;

/// Whose the signals of the process are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signals {
    /// The command's, which they end early.
    Watched,
    /// Those of the program that the command is a part of.
    Left,
}

/// Whether the user wants the run to end. Signals are watched for as long as there is a copy of it,
/// so that a program which is more than this command gets its own back.
#[derive(Clone, Debug)]
pub struct Interrupt {
    /// The exit code of the signal that came, or 0.
    code: Arc<AtomicUsize>,
    /// The command line.
    words: Arc<[OsString]>,
    _watched: Arc<Watched>,
}

#[derive(Debug, Default)]
struct Watched(Vec<SigId>);

impl Drop for Watched {
    fn drop(&mut self) {
        for id in self.0.drain(..) {
            unregister(id);
        }
    }
}

impl Interrupt {
    /// Watches for signals to the command line `words` from now on, if they are to be watched. The
    /// first is only noted; a second ends the process at once.
    pub fn watch(words: &[OsString], signals: Signals) -> io::Result<Self> {
        let code = Arc::new(AtomicUsize::new(0));
        let came = Arc::new(AtomicBool::new(false));
        let mut watched = Watched::default();
        let watching = match signals {
            Signals::Watched => &[SIGINT, SIGTERM][..],
            Signals::Left => &[],
        };
        for &signal in watching {
            let exit = SIGNAL_EXIT + usize::try_from(signal).unwrap_or_default();
            let status = i32::try_from(exit).unwrap_or_default();
            // In this order, so that the first signal does not yet see the flag that it sets.
            let shutdown = flag::register_conditional_shutdown(signal, status, Arc::clone(&came))?;
            watched.0.push(shutdown);
            watched.0.push(flag::register(signal, Arc::clone(&came))?);
            watched.0.push(flag::register_usize(signal, Arc::clone(&code), exit)?);
        }
        if signals == Signals::Watched {
            // A file that may grow no further (ulimit -f) then is an error of the write, which is
            // told like any other.
            watched.0.push(flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?);
        }
        Ok(Self { code, words: words.into(), _watched: Arc::new(watched) })
    }

    /// The exit code if a signal came.
    pub fn code(&self) -> Option<u8> {
        let code = self.code.load(Ordering::Relaxed);
        u8::try_from(code).ok().filter(|&code| code > 0)
    }

    /// The command line that goes on from what is there: this one, without what would start
    /// anew.
    pub fn resuming_command(&self) -> String {
        let arguments = self.words.iter().skip(1).filter(|argument| *argument != "--fresh");
        let arguments = arguments.map(|argument| quoted(&argument.to_string_lossy()));
        std::iter::once("convsim".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
    }
}

/// Stops a run at the next row.
impl RowSink for Interrupt {
    fn row(&mut self, _: &Row) -> io::Result<()> {
        match self.code() {
            Some(_) => Err(io::Error::other("interrupted")),
            None => Ok(()),
        }
    }
}
