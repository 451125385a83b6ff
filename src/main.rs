//! The command `convsim`: it hands the command line to the library, whose Python package has the
//! same one, and maps what comes back to an exit code.
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let ended = convsim::execute(std::env::args_os());
    // Nowhere is left to report a failure of stderr to.
    let _ = std::io::stderr().write_all(ended.errors.as_bytes());
    ExitCode::from(ended.code)
}
