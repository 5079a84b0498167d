//! Extensions of op declarations: typed data that an analysis or a machine adds, such as a cost descriptor, an encoding
//! or a latency.
//!
//! An extension is an op interface that `ir` does not know: the crate that uses the data declares a type for it, and ops
//! state a value of that type, usually a struct of functions and numbers. In MLIR, op interfaces and their external models
//! serve this purpose.
//!
//! ```
//! use gradus_ir::{Extension, OpDecl, op};
//!
//! /// The latency of an instruction, in cycles.
//! struct Latency(u64);
//! impl Extension for Latency {}
//!
//! /// Multiplies and adds.
//! #[op("vec.mac", extensions = &[&Latency(4)])]
//! pub struct MacOp {}
//!
//! assert_eq!(MacOp::INFO.extension::<Latency>().map(|latency| latency.0), Some(4));
//! ```

use std::any::{Any, type_name};

/// A type of data in op declarations. An op has at most one extension of a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extension of op declarations",
    label = "not an extension",
    note = "the crate that reads the data declares a type for it and implements `Extension`"
)]
pub trait Extension: Any + Send + Sync {
    /// Returns the name of the type, for messages.
    fn type_name(&self) -> &'static str {
        type_name::<Self>()
    }
}
