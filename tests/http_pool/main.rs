//! The HTTP pool model against closed forms, hand-made schedules, published reports, and properties.

mod accounting;
mod bad_input;
mod closed_forms;
mod common_random_numbers;
mod harness;
mod keep_alive;
mod listen_backlog;
mod no_effect;
mod properties;
mod proxy;
mod published_reports;
