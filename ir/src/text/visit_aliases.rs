//! The order of types and attributes that determines alias numbers.

use super::options::PrintOptions;
use super::print_alias::AliasBuilder;
use crate::module::{Module, Op};

/// Visits the location, the contents of the regions, then operand types, result types and attributes by name: MLIR's
/// order.
pub(super) fn visit_aliases(m: &Module, op: Op, options: PrintOptions, builder: &mut AliasBuilder<'_>) {
    if options.debug_info {
        builder.visit_loc(m.loc(op).to_attr(&m.ctx), true);
    }
    let shown = if options.skip_regions { &[][..] } else { m.regions(op) };
    for &region in shown {
        for block in m.region_blocks(region) {
            for (i, &arg) in m.block_args(block).iter().enumerate() {
                builder.visit_type(m.value_type(arg));
                if options.debug_info {
                    builder.visit_loc(m.arg_loc(block, i).to_attr(&m.ctx), false);
                }
            }
            for op in m.block_ops(block) {
                if m.regions(op).is_empty() {
                    visit_aliases(m, op, options, builder);
                } else {
                    stacker::maybe_grow(64 << 10, 1 << 20, || visit_aliases(m, op, options, builder));
                }
            }
        }
    }
    visit_types_and_attrs(m, op, builder);
}

/// Visits operand types, result types, and the attributes of both dictionaries by name.
pub(super) fn visit_types_and_attrs(m: &Module, op: Op, builder: &mut AliasBuilder<'_>) {
    for &operand in m.operands(op) {
        builder.visit_type(m.value_type(operand));
    }
    for result in m.results(op) {
        builder.visit_type(m.value_type(result));
    }
    builder.visit_dicts(m.props(op), m.attrs(op));
}
