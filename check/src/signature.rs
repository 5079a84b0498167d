//! The types of functions.

use gradus_ir::{Module, Op, Type};

/// Returns the types of a function's arguments and results.
pub(crate) fn function_parts(m: &Module, function: Op) -> (&[Type], &[Type]) {
    let ty = m.inherent_attr(function, "function_type").and_then(|a| m.ctx.as_type(a));
    ty.and_then(|ty| m.ctx.function_parts(ty)).unwrap_or_default()
}

/// Returns the types of a function's results.
pub(crate) fn result_types(m: &Module, function: Op) -> &[Type] {
    function_parts(m, function).1
}
