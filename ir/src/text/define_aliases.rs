//! Printing of the definitions of aliases.

use super::print_alias::{AliasBuilder, Aliased, Aliases};
use super::print_attr::AttrPrinter;

/// Names the aliases and prints their definitions. Constants with more than `elide` elements are elided.
pub(super) fn define_aliases(builder: AliasBuilder<'_>, elide: Option<usize>) -> Aliases {
    let ctx = builder.ctx;
    let mut aliases = builder.name();
    let mut printer = AttrPrinter::new(ctx, Some(&aliases)).eliding(elide);
    let (head, tail) = (define(&mut printer, &aliases, &aliases.top), define(&mut printer, &aliases, &aliases.bottom));
    let distinct = printer.distinct;
    (aliases.head, aliases.tail, aliases.distinct) = (head, tail, distinct);
    aliases
}

fn define(printer: &mut AttrPrinter<'_>, aliases: &Aliases, values: &[Aliased]) -> String {
    let mut out = String::new();
    for &value in values {
        out.push_str(aliases.names.get(&value).map_or("", |name| name));
        out.push_str(" = ");
        match value {
            Aliased::Attr(attr) => printer.attr_written_out(attr, &mut out),
            Aliased::Type(ty) => printer.ty_written_out(ty, &mut out),
        }
        out.push('\n');
    }
    out
}
