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

use gradus_ir::tensor::Tensor;

/// Result of a kernel: a tensor, or a description of the violated rule.
pub type KernelResult = Result<Tensor, String>;

pub use attention::{AttentionAttrs, AttentionInputs, RotaryAttrs, attention, rotary_embedding, swiglu};
pub use binary::*;
pub use cast::{RoundMode, cast, cast_with};
pub use conv::{conv, conv_transpose};
pub use dropout::{dropout, ratio_of};
pub use einsum::{Equation, einsum};
pub use generate::*;
pub use index::*;
pub use loss::*;
pub use matmul::{GemmAttrs, det, gemm, matmul, sparse_matmul};
pub use movement::{
    concat, depth_to_space, expand, flatten, reshape, shape_of, size_of, slice, space_to_depth, split, squeeze, tile,
    transpose, unsqueeze,
};
pub use norm::*;
pub use pad::{PadMode, pad};
pub use pool::*;
pub use quant::*;
pub use recurrent::*;
pub use reduce::{Reduction, arg_max, arg_min, cum_prod, cum_sum, reduce};
pub use region::{NmsAttrs, RoiAlignAttrs, max_roi_pool, non_max_suppression, roi_align};
pub use resize::{AspectPolicy, Coordinates, NearestMode, ResizeAttrs, ResizeMode, resize};
pub use sample::{DeformInputs, GridSampleAttrs, SampleMode, SamplePadding, affine_grid, deform_conv, grid_sample};
pub use search::*;
pub use signal::*;
pub use softmax::{log_softmax, softmax};
pub use state::{LinearAttentionAttrs, LinearInputs, causal_conv_with_state, linear_attention, tensor_scatter};
pub use unary::*;
pub use unpool::{center_crop_pad, col2im, max_unpool, unpool_dims};
