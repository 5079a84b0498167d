//! The types of functions.

use gradus_ir::{Module, Op, Type};

/// Returns the type of a function.
pub(crate) fn function_type(m: &Module, function: Op) -> Option<Type> {
    m.inherent_attr(function, "function_type").and_then(|a| m.ctx.as_type(a))
}

/// Returns the types of a function's results.
pub(crate) fn result_types(m: &Module, function: Op) -> &[Type] {
    function_type(m, function).and_then(|ty| m.ctx.function_parts(ty)).map_or(&[], |(_, results)| results)
}
