//! report.html in a real browser: headless Chromium loads it and runs what a reader would do.
//!
//! Ignored by default, as it needs Chromium; `.ci/run` installs it and runs this with
//! `cargo test --test browser -- --ignored`. No driver is needed: a script that is appended to a
//! copy of the page clicks and types, and `--dump-dom` prints what the page has become.

mod chromium;
mod page;
