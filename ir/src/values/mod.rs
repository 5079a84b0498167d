//! Values at run time, memory with a poison bit for each byte, and the evaluation of ops on them.

pub mod access;
pub(crate) mod byte_buffer;
pub(crate) mod datum;
pub(crate) mod defined;
pub mod element_limit;
pub mod eval;
pub mod float;
pub mod layout;
pub mod memory;
pub(crate) mod memory_tensors;
pub(crate) mod memref;
pub(crate) mod numbers;
pub(crate) mod own_value;
pub(crate) mod poison;
pub(crate) mod poison_tensor;
pub(crate) mod races;
pub mod scalar;
pub mod tensor;
pub(crate) mod trap;
