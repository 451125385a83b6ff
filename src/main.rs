//! The command `convsim`: it maps the result of a subcommand to an exit code, and no more.
#![forbid(unsafe_code)]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
