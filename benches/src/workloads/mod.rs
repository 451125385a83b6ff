//! What is simulated.

mod closed_system;
mod five_stations;
mod hold;
mod mm1;
mod variates;

pub use closed_system::ClosedSystem;
pub use five_stations::FiveStations;
pub use hold::{Hold, Increments};
pub use mm1::{Mm1, Waits, lindley};
