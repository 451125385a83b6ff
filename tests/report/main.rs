//! From a run to its pictures, its report and the timeline of one replication, as a user does it.

mod bounds;
mod compared;
mod cut;
mod files;
mod formats;
mod timeline;
mod widths;

use std::path::PathBuf;

use assert_cmd::Command;

fn convsim() -> Command {
    Command::new(env!("CARGO_BIN_EXE_convsim"))
}

fn scenario(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(name)
}
