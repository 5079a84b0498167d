//! IR to text. The generic form is here; custom forms are in `format`. What mlir-opt prints in generic form, this prints
//! byte for byte.

use super::number::Numbering;
use super::print_alias::{AliasBuilder, Aliases};
use super::print_attr::AttrPrinter;
use super::print_threads::{both, divisible, is_plain};
use crate::context::{Attr, Type};
use crate::entity::SideTable;
use crate::loc::Loc;
use crate::module::{Block, Def, Module, Op, Region, Value};
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

/// How to print.
#[derive(Clone, Copy, Default, Debug)]
pub struct PrintOptions {
    /// Every op in generic form.
    pub generic: bool,
    /// Trailing locations.
    pub debug_info: bool,
    /// No aliases and no resources: what is printed can stand inside other text.
    pub local_scope: bool,
    /// `{...}` for regions.
    pub skip_regions: bool,
    /// Constants with more elements than this are left out; see MLIR's `dense_resource<__elided__>`.
    pub elide_elements: Option<usize>,
    /// Resources whose text is longer than this are left out.
    pub elide_resources: Option<usize>,
    /// Comments that say who uses a value.
    pub value_users: bool,
    /// No two values have one number, wherever they are.
    pub unique_ids: bool,
    /// Values are named by their locations.
    pub name_locs: bool,
    /// Threads for large programs; 0 is one.
    pub threads: usize,
}

impl Module {
    /// The whole program as text, in the form that `options` says.
    pub fn to_text(&self, options: PrintOptions) -> String {
        self.op_text(self.root, options)
    }

    /// One op as text, as [`Module::print_op`] writes it.
    pub fn op_text(&self, op: Op, options: PrintOptions) -> String {
        let mut out = Vec::new();
        self.print_op(op, options, &mut out).expect("writing to memory does not fail");
        String::from_utf8(out).expect("the printer writes UTF-8")
    }

    /// Writes the whole program as text.
    pub fn print(&self, options: PrintOptions, sink: &mut dyn io::Write) -> io::Result<()> {
        self.print_op(self.root, options, sink)
    }

    /// Writes one op. In local scope that is all; else it is a program of its own, with the aliases that it needs and, for
    /// the root, the resources, and ends with a newline.
    pub fn print_op(&self, op: Op, options: PrintOptions, sink: &mut dyn io::Write) -> io::Result<()> {
        let divided = divisible(self, op, options);
        // Each thread names what it prints, if it can.
        let separate = divided.filter(|&block| Numbering::is_separate(self, block, options));
        let plain = options.local_scope || separate.is_some_and(|block| is_plain(self, block, options));
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
                super::fine::print_resources(&self.resources, &order, options.elide_resources, &mut printer.out);
            }
        }
        printer.flush()
    }
}

/// The aliases of what was visited. If there are any, everything is visited in the order that fixes their numbers.
fn finish_aliases(
    m: &Module,
    op: Op,
    options: PrintOptions,
    numbers: &Arc<Numbering>,
    builder: AliasBuilder<'_>,
) -> io::Result<Aliases> {
    let aliases = builder.finish(options.elide_elements);
    if options.generic || aliases.is_empty() {
        return Ok(aliases);
    }
    // Custom forms say what is printed, and in which order: they print to nowhere.
    let (none, mut nowhere) = (Aliases::default(), io::sink());
    let mut printer = Printer::new(m, &none, numbers.clone(), options, &mut nowhere);
    printer.attrs.visitor = Some(AliasBuilder::new(&m.ctx, &m.alias_hints));
    printer.op(op)?;
    Ok(printer.attrs.visitor.map(|v| v.finish(options.elide_elements)).unwrap_or_default())
}

/// Location, then what the regions hold, then operand types, result types and attributes by name: MLIR's order.
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

/// Operand types, result types, and the attributes of both dictionaries by name.
fn visit_types_and_attrs(m: &Module, op: Op, builder: &mut AliasBuilder<'_>) {
    for &operand in m.operands(op) {
        builder.visit_type(m.value_type(operand));
    }
    for result in m.results(op) {
        builder.visit_type(m.value_type(result));
    }
    builder.visit_dicts(m.props(op), m.attrs(op));
}

/// Text of at most this length is kept for reuse.
const CACHED: usize = 256;

/// The state of printing.
pub(crate) struct Printer<'a> {
    pub(crate) m: &'a Module,
    pub(crate) out: String,
    pub(crate) attrs: AttrPrinter<'a>,
    pub(crate) numbers: Arc<Numbering>,
    pub(super) aliases: &'a Aliases,
    pub(super) options: PrintOptions,
    pub(super) sink: &'a mut dyn io::Write,
    /// Text is handed to the sink when there is more than this.
    pub(super) flush_at: usize,
    pub(super) indent: usize,
    /// The block whose ops are divided among threads.
    divided: Option<Block>,
    /// Whether threads name what they print.
    pub(super) separate: bool,
    /// Where in `cache` the text of a type or dictionary is: start and length, length 0 for not yet.
    cache: String,
    types: SideTable<Type, (u32, u32)>,
    dicts: SideTable<Attr, (u32, u32)>,
}

impl<'a> Printer<'a> {
    pub(super) fn new(
        m: &'a Module,
        aliases: &'a Aliases,
        numbers: Arc<Numbering>,
        options: PrintOptions,
        sink: &'a mut dyn io::Write,
    ) -> Self {
        Printer {
            m,
            out: String::with_capacity(FLUSH_AT + 4096),
            attrs: AttrPrinter::new(&m.ctx, Some(aliases)).eliding(options.elide_elements),
            numbers,
            aliases,
            options,
            sink,
            flush_at: FLUSH_AT,
            indent: 0,
            divided: None,
            separate: false,
            cache: String::new(),
            types: SideTable::new((0, 0)),
            dicts: SideTable::new((0, 0)),
        }
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.sink.write_all(self.out.as_bytes())?;
        self.out.clear();
        Ok(())
    }

    pub(crate) fn newline(&mut self) {
        self.out.push('\n');
        const BLANKS: &str = "                                                                ";
        let mut left = self.indent * 2;
        while left > 0 {
            let n = left.min(BLANKS.len());
            self.out.push_str(&BLANKS[..n]);
            left -= n;
        }
    }

    /// An op with its result names and, if asked for, its location.
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

    /// An op without its result names.
    pub(crate) fn unnamed_op(&mut self, op: Op) -> io::Result<()> {
        let visiting = self.attrs.visitor.is_some();
        if visiting {
            // The location counts first, though it is printed last.
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

    /// ` loc(...)`, if locations are printed.
    pub(crate) fn trailing_loc(&mut self, loc: Loc) {
        if self.options.debug_info {
            self.out.push(' ');
            let attr = loc.to_attr(&self.m.ctx);
            self.attrs.trailing_loc(attr, &mut self.out);
        }
    }

    /// The op's name, without the prefix that the op around it lets one leave out.
    fn custom_name(&mut self, op: Op) {
        let name = self.m.name_text(op);
        let around = self.m.parent_op(op).map(|p| self.m.info(p));
        let default = around.map_or("builtin", |info| info.map_or("", |i| i.default_dialect));
        let short = name.strip_prefix(default).and_then(|n| n.strip_prefix('.')).filter(|n| !n.contains('.'));
        self.out.push_str(short.unwrap_or(name));
    }

    /// ` loc(...)` of a block argument, if locations are printed. MLIR uses no alias there.
    pub(crate) fn arg_loc(&mut self, block: Block, i: usize) {
        if self.options.debug_info {
            self.out.push(' ');
            let attr = self.m.arg_loc(block, i).to_attr(&self.m.ctx);
            self.attrs.trailing_loc_inline(attr, &mut self.out);
        }
    }

    /// What the generic form mentions counts in another order than it is printed.
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
        self.out.push('"');
        super::fine::escape(m.name_text(op).as_bytes(), &mut self.out);
        self.out.push_str("\"(");
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

    /// `(operand types) -> result types`
    pub(crate) fn signature(&mut self, op: Op) {
        let m = self.m;
        self.out.push('(');
        for (i, &operand) in m.operands(op).iter().enumerate() {
            self.comma(i);
            self.ty(m.value_type(operand));
        }
        self.out.push_str(") -> ");
        let types: smallvec::SmallVec<[Type; 4]> = m.results(op).map(|v| m.value_type(v)).collect();
        self.result_types(&types);
    }

    /// One type bare, any other number (and a function type) in parentheses.
    pub(crate) fn result_types(&mut self, types: &[Type]) {
        if let [ty] = *types
            && self.m.ctx.function_parts(ty).is_none()
        {
            return self.ty(ty);
        }
        self.out.push('(');
        for (i, &ty) in types.iter().enumerate() {
            self.comma(i);
            self.ty(ty);
        }
        self.out.push(')');
    }

    pub(crate) fn comma(&mut self, i: usize) {
        if i > 0 {
            self.out.push_str(", ");
        }
    }

    pub(crate) fn values(&mut self, values: &[Value]) {
        for (i, &value) in values.iter().enumerate() {
            self.comma(i);
            self.value(value);
        }
    }

    #[inline]
    pub(crate) fn value(&mut self, value: Value) {
        self.numbers.value(self.m, value, &mut self.out);
    }

    pub(crate) fn block_name(&mut self, block: Block) {
        let _ = write!(self.out, "^bb{}", self.numbers.block(block));
    }

    pub(crate) fn ty(&mut self, ty: Type) {
        let (start, len) = self.types[ty];
        if len > 0 {
            self.out.push_str(&self.cache[start as usize..(start + len) as usize]);
            return;
        }
        let at = self.out.len();
        self.attrs.ty(ty, &mut self.out);
        if let Some(span) = self.keep(at) {
            self.types[ty] = span;
        }
    }

    /// A dictionary in braces.
    pub(crate) fn dict(&mut self, dict: Attr) {
        let (start, len) = self.dicts[dict];
        if len > 0 {
            self.out.push_str(&self.cache[start as usize..(start + len) as usize]);
            return;
        }
        let at = self.out.len();
        self.attrs.attr(dict, &mut self.out);
        if let Some(span) = self.keep(at) {
            self.dicts[dict] = span;
        }
    }

    /// Keeps what was printed since `at` for reuse, if it is short.
    fn keep(&mut self, at: usize) -> Option<(u32, u32)> {
        let len = self.out.len() - at;
        if len > CACHED || self.cache.len() > u32::MAX as usize - CACHED {
            return None;
        }
        let start = self.cache.len() as u32;
        self.cache.push_str(&self.out[at..]);
        Some((start, len as u32))
    }

    /// `{ blocks }` at the current indentation. `header` says whether arguments of the entry block are printed with a
    /// label; `empty` whether an entry block without ops is; `terminator` whether the last op of a block is.
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

    /// An op on a line of its own.
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

const FLUSH_AT: usize = 64 << 10;

/// Appends a decimal number.
#[inline]
pub(crate) fn push_number(mut n: u32, out: &mut String) {
    let mut digits = [0u8; 10];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.push_str(std::str::from_utf8(&digits[at..]).expect("digits are ASCII"));
}

/// The value's number among its op's results, when the op has several.
pub(crate) fn result_number(m: &Module, value: Value) -> Option<u32> {
    match m.def(value) {
        Def::Result(op, i) if m.num_results(op) > 1 => Some(i),
        _ => None,
    }
}
