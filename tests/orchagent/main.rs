//! The orchagent model against hand-worked cases, published measurements and properties.

mod common_random_numbers;
mod eras_and_modes;
mod link_path;
mod properties;
mod route_batches;
mod support;
