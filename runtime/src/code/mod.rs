//! Machine code at run time: [`verify`] proves that code accesses only its operands and returns, and [`Code`] holds code
//! that passed in memory that is executable and not writable.

mod memory;
mod verify;

pub use memory::Code;
pub use verify::{Features, verify};
