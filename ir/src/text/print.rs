//! Printing of the generic form, byte for byte as mlir-opt prints it. Custom forms are in `format`.

use super::define_aliases::define_aliases;
use super::number::Numbering;
use super::options::PrintOptions;
use super::print_alias::{AliasBuilder, Aliases, is_context_plain};
use super::print_threads::{both, divisible, is_plain};
use super::printer::Printer;
use super::visit_aliases::{visit_aliases, visit_types_and_attrs};
use crate::intern::Attr;
use crate::module::{Block, Module, Op, Region};
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

impl Module {
    /// Returns the text of the program.
    pub fn to_text(&self, options: PrintOptions) -> String {
        self.op_text(self.root, options)
    }

    /// Returns the text of one op, as [`Module::print_op`] writes it.
    pub fn op_text(&self, op: Op, options: PrintOptions) -> String {
        let mut out = Vec::new();
        self.print_op(op, options, &mut out).expect("writing to memory does not fail");
        String::from_utf8(out).expect("the printer writes UTF-8")
    }

    /// Writes the text of the program.
    pub fn print(&self, options: PrintOptions, sink: &mut dyn io::Write) -> io::Result<()> {
        self.print_op(self.root, options, sink)
    }

    /// Writes one op. In local scope, the text is the op alone. Otherwise it is a complete program that ends with a
    /// newline: the aliases that the op needs and, for the root, the resources.
    pub fn print_op(&self, op: Op, options: PrintOptions, sink: &mut dyn io::Write) -> io::Result<()> {
        let divided = divisible(self, op, options);
        // If possible, each thread numbers the values of its own part.
        let separate = divided.filter(|&block| Numbering::is_separate(self, block, options));
        let plain = options.local_scope
            || (op == self.root && is_context_plain(self, options))
            || separate.is_some_and(|block| is_plain(self, block, options));
        let (numbers, builder) = both(
            divided.is_some() && separate.is_none(),
            || match separate {
                Some(_) => Numbering::empty(options),
                None => Numbering::new(self, op, options),
            },
            || {
                let mut builder = AliasBuilder::new(&self.ctx, &self.alias_hints);
                match plain {
                    true if options.local_scope => {}
                    true => visit_types_and_attrs(self, op, &mut builder),
                    false => visit_aliases(self, op, options, &mut builder),
                }
                builder
            },
        );
        let numbers = Arc::new(numbers);
        let aliases = finish_aliases(self, op, options, &numbers, builder)?;
        let mut printer = Printer::new(self, &aliases, numbers, options, sink);
        (printer.divided, printer.separate) = (divided, separate.is_some());
        printer.out.push_str(aliases.head());
        printer.op(op)?;
        if !options.local_scope {
            printer.out.push('\n');
            printer.out.push_str(aliases.tail());
            if op == self.root && !options.skip_regions {
                let order: Vec<&str> = printer.attrs.resources.iter().map(|&key| self.ctx.text(key)).collect();
                super::type_attr_parser::print_resources(
                    &self.resources,
                    &order,
                    options.elide_resources,
                    &mut printer.out,
                );
            }
        }
        printer.flush()
    }
}

/// Finishes the aliases. If there are any, visits the whole op again in the order that determines their numbers.
fn finish_aliases(
    m: &Module,
    op: Op,
    options: PrintOptions,
    numbers: &Arc<Numbering>,
    builder: AliasBuilder<'_>,
) -> io::Result<Aliases> {
    let aliases = define_aliases(builder, options.elide_elements);
    if options.generic || aliases.is_empty() {
        return Ok(aliases);
    }
    // Custom forms determine the order of visits, so they are printed to a null sink.
    let (none, mut nowhere) = (Aliases::default(), io::sink());
    let mut printer = Printer::new(m, &none, numbers.clone(), options, &mut nowhere);
    printer.attrs.visitor = Some(AliasBuilder::new(&m.ctx, &m.alias_hints));
    printer.op(op)?;
    Ok(printer.attrs.visitor.map(|builder| define_aliases(builder, options.elide_elements)).unwrap_or_default())
}

impl<'a> Printer<'a> {
    /// Prints an op with its result names and, if requested, its location.
    fn op(&mut self, op: Op) -> io::Result<()> {
        if self.out.len() > self.flush_at {
            self.flush()?;
        }
        let n = self.m.num_results(op);
        if n > 0 {
            self.numbers.groups(self.m, op, &mut self.out);
            self.out.push_str(" = ");
        }
        self.unnamed_op(op)
    }

    /// Prints an op without its result names.
    pub(crate) fn unnamed_op(&mut self, op: Op) -> io::Result<()> {
        let visiting = self.attrs.visitor.is_some();
        if visiting {
            // For alias numbers, the location counts first although it is printed last.
            self.trailing_loc(self.m.loc(op));
        }
        match self.m.info(op) {
            Some(info) if !self.options.generic && info.format.is_some() => {
                self.custom_name(op);
                super::format_print::print_custom(self, info, op)?;
            }
            _ if visiting => self.visit_generic_op(op)?,
            _ => self.generic_op(op)?,
        }
        if !visiting {
            self.trailing_loc(self.m.loc(op));
            if self.options.value_users {
                super::print_users::of_op(self, op);
            }
        }
        Ok(())
    }

    /// Prints the op's name, without the default dialect prefix of the enclosing op.
    fn custom_name(&mut self, op: Op) {
        let name = self.m.name_text(op);
        let around = self.m.parent_op(op).map(|p| self.m.info(p));
        let default = around.map_or("builtin", |info| info.map_or("", |i| i.default_dialect));
        let short = name.strip_prefix(default).and_then(|n| n.strip_prefix('.')).filter(|n| !n.contains('.'));
        self.out.push_str(short.unwrap_or(name));
    }

    /// Visits the types and attributes of a generic op in alias order, which differs from print order.
    fn visit_generic_op(&mut self, op: Op) -> io::Result<()> {
        for &region in self.m.regions(op) {
            self.region(region, true, true, true)?;
        }
        if let Some(visitor) = &mut self.attrs.visitor {
            visit_types_and_attrs(self.m, op, visitor);
        }
        Ok(())
    }

    fn generic_op(&mut self, op: Op) -> io::Result<()> {
        let m = self.m;
        self.op_head(m.name(op));
        self.values(m.operands(op));
        self.out.push(')');
        if !m.successors(op).is_empty() {
            self.out.push('[');
            for (i, &block) in m.successors(op).iter().enumerate() {
                self.comma(i);
                self.block_name(block);
            }
            self.out.push(']');
        }
        if m.props(op) != Attr::EMPTY_DICT {
            self.out.push_str(" <");
            self.dict(m.props(op));
            self.out.push('>');
        }
        for (i, &region) in m.regions(op).iter().enumerate() {
            self.out.push_str(if i == 0 { " (" } else { ", " });
            self.region(region, true, true, true)?;
        }
        if !m.regions(op).is_empty() {
            self.out.push(')');
        }
        if m.attrs(op) != Attr::EMPTY_DICT {
            self.out.push(' ');
            self.dict(m.attrs(op));
        }
        self.out.push_str(" : ");
        self.signature(op);
        Ok(())
    }

    /// Prints `{ blocks }` at the current indentation. `header`: whether the arguments of the entry block are printed
    /// with a label; `empty`: whether an entry block without ops is printed; `terminator`: whether each block's last op
    /// is printed.
    pub(crate) fn region(&mut self, region: Region, header: bool, empty: bool, terminator: bool) -> io::Result<()> {
        if self.options.skip_regions {
            self.out.push_str("{...}");
            return Ok(());
        }
        self.out.push('{');
        stacker::maybe_grow(64 << 10, 1 << 20, || {
            for (i, block) in self.m.region_blocks(region).enumerate() {
                let has_args = !self.m.block_args(block).is_empty();
                let is_empty = self.m.first_op(block).is_none();
                if i > 0 || (header && has_args) || (is_empty && empty) {
                    self.block_header(block, i == 0);
                }
                self.block_body(block, terminator)?;
            }
            io::Result::Ok(())
        })?;
        self.newline();
        self.out.push('}');
        Ok(())
    }

    fn block_body(&mut self, block: Block, terminator: bool) -> io::Result<()> {
        self.indent += 1;
        if self.options.value_users {
            super::print_users::of_args(self, block);
        }
        let hidden = if terminator { None } else { self.m.last_op(block) };
        let m = self.m;
        let mut ops = m.block_ops(block).take_while(|&op| Some(op) != hidden);
        match self.divided == Some(block) {
            true => self.ops_by_threads(&ops.collect::<Vec<_>>())?,
            false => ops.try_for_each(|op| self.line(op))?,
        }
        self.indent -= 1;
        Ok(())
    }

    /// Prints an op on a line of its own.
    pub(super) fn line(&mut self, op: Op) -> io::Result<()> {
        self.newline();
        self.op(op)
    }

    fn block_header(&mut self, block: Block, entry: bool) {
        let m = self.m;
        self.newline();
        self.block_name(block);
        if !m.block_args(block).is_empty() {
            self.out.push('(');
            for (i, &arg) in m.block_args(block).iter().enumerate() {
                self.comma(i);
                self.value(arg);
                self.out.push_str(": ");
                self.ty(m.value_type(arg));
                self.arg_loc(block, i);
            }
            self.out.push(')');
        }
        self.out.push(':');
        let preds = self.numbers.predecessors(block);
        match preds {
            [] if entry => {}
            [] => self.out.push_str("  // no predecessors"),
            [pred] => {
                let _ = write!(self.out, "  // pred: ^bb{pred}");
            }
            _ => {
                let _ = write!(self.out, "  // {} preds: ", preds.len());
                for (i, pred) in preds.iter().enumerate() {
                    let _ = write!(self.out, "{}^bb{pred}", if i > 0 { ", " } else { "" });
                }
            }
        }
    }
}
