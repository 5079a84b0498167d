//! The reference kernels of the `graph` dialect: ONNX operators as plain functions over tensors.
//!
//! A kernel takes operands and attributes and returns a new tensor, or an error that names the violated rule; it never
//! panics. Results of more than 2^27 elements are rejected. The [`shape`] module holds the shape rules, which shape
//! inference shares.

mod attention;
mod binary;
mod cast;
mod conv;
mod dropout;
mod einsum;
mod gemm;
mod generate;
mod index;
mod loss;
mod matmul;
mod movement;
mod norm;
mod num;
mod pad;
mod pool;
mod qlinear;
mod quant;
mod recurrent;
mod reduce;
mod region;
mod resize;
mod sample;
mod search;
pub mod shape;
mod signal;
mod softmax;
mod state;
mod unary;
mod unpool;
mod walk;

use gradus_ir::Violation;
use gradus_ir::tensor::Tensor;

/// Result of a kernel: a tensor, or the violated rule. Kernels are the bodies of ops' hooks, whose messages get the op's name and
/// location from the verifier and the interpreter.
pub type KernelResult = Result<Tensor, Violation>;

pub use attention::*;
pub use binary::*;
pub use cast::*;
pub use conv::*;
pub use dropout::*;
pub use einsum::*;
pub use generate::*;
pub use index::*;
pub use loss::*;
pub use matmul::*;
pub use movement::*;
pub use norm::*;
pub use pad::*;
pub use pool::*;
pub use qlinear::*;
pub use quant::*;
pub use recurrent::*;
pub use reduce::*;
pub use region::*;
pub use resize::*;
pub use sample::*;
pub use search::*;
pub use signal::*;
pub use softmax::*;
pub use state::*;
pub use unary::*;
pub use unpool::*;
