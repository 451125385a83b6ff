//! The resources against the closed forms of queueing theory, through the public engine API.
//!
//! Every figure comes from independent replications with fixed seeds; its Student-t interval at
//! 99.9 % must hold the closed form and must be narrow, so a test can fail, and fails the same way
//! every time. Every station runs a stated warm-up before anything is counted.

mod closed_forms;
mod first_in_first_out;
mod interval;
mod loss;
mod machine_repair;
mod mutex;
mod processor_sharing;
mod resuming;
mod sharing_properties;
mod step_programs;
mod step_properties;
mod tandem;
