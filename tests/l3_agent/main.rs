//! The L3 agent model against published figures, measurements, closed forms and its own rules.

mod agent;
mod bad_input;
mod commands;
mod eras;
mod liveness;
mod properties;
mod run;
mod speed;
mod sync;
mod validation;
mod vm_boot;
