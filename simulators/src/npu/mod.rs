//! The npu: a multiplier array with SRAM of its own, which convolves and moves slices and has no elementwise multiply.
//!
//! Five units work side by side: load and store (DMA), array (`conv`, `dwconv`), pipe (`post`) and mover (`move`). Instructions
//! go to three queues: load, store, and execute for the other three units. A queue issues in order; an instruction starts when
//! its unit is free. Units are ordered by tokens only.

mod instruction;

pub use instruction::*;
