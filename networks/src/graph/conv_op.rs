//! The attributes that all convolutions have.

/// Declares a convolution: its documentation, `#[op(...)]` and operands are given, and the element constraint of the result.
macro_rules! conv_op {
    ($(#[$meta:meta])* pub struct $Op:ident { $($operands:tt)* } -> $result:ident) => {
        $(#[$meta])*
        pub struct $Op {
            $($operands)*
            /// Padding mode: `NOTSET` (explicit `pads`), `SAME_UPPER`, `SAME_LOWER` or `VALID`.
            #[default = "\"NOTSET\""]
            auto_pad: OptAttribute<STRING>,
            /// Distance between neighbouring taps; 1 when absent.
            dilations: OptAttribute<I64_ARRAY>,
            /// Number of channel groups; -1 for one per channel.
            #[default = "1 : i64"]
            group: OptAttribute<I64>,
            /// Spatial extents of the filters; must match `w`.
            kernel_shape: OptAttribute<I64_ARRAY>,
            /// Pads: all begins, then all ends; 0 when absent.
            pads: OptAttribute<I64_ARRAY>,
            /// Strides of the window; 1 when absent.
            strides: OptAttribute<I64_ARRAY>,
            /// Output, `[N, M, O...]`.
            y: OpResult<$result>,
        }
    };
}

pub(crate) use conv_op;
