//! Printer state, and the elements common to all forms: values, types, attributes and locations.

use super::number::Numbering;
use super::options::PrintOptions;
use super::print_alias::Aliases;
use super::print_attr::{AttrPrinter, push_escaped};
use crate::entity::{Entity, SideTable};
use crate::intern::{Attr, OpName, Type};
use crate::module::{Block, Module, Op, Value};
use crate::text::loc::Loc;
use smallvec::SmallVec;
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

/// Longest text that is cached, in bytes.
const CACHED: usize = 256;

const FLUSH_AT: usize = 64 << 10;

/// The state of a printer.
pub(crate) struct Printer<'a> {
    pub(crate) m: &'a Module,
    pub(crate) out: String,
    pub(crate) attrs: AttrPrinter<'a>,
    pub(crate) numbers: Arc<Numbering>,
    pub(super) aliases: &'a Aliases,
    pub(super) options: PrintOptions,
    pub(super) sink: &'a mut dyn io::Write,
    /// Buffered bytes above which text is flushed to the sink.
    pub(super) flush_at: usize,
    pub(super) indent: usize,
    /// The block whose ops are printed in parallel.
    pub(super) divided: Option<Block>,
    /// Whether each thread numbers the values of its own part.
    pub(super) separate: bool,
    /// The cached texts, and the start and length in them of each type or dictionary; length 0 for one not cached yet.
    cache: String,
    types: SideTable<Type, (u32, u32)>,
    dicts: SideTable<Attr, (u32, u32)>,
    heads: SideTable<OpName, (u32, u32)>,
    /// A direct-mapped cache of signatures, by op name.
    signatures: Vec<SignatureText>,
}

/// Number of cached signatures.
const SIGNATURES: usize = 64;

/// The text of the last signature printed for an op name.
#[derive(Clone, Default)]
struct SignatureText {
    operands: usize,
    /// Operand types, then result types.
    types: SmallVec<[Type; 4]>,
    /// Empty for none.
    text: String,
}

impl SignatureText {
    fn is_of(&self, m: &Module, operands: &[Value], op: Op) -> bool {
        !self.text.is_empty()
            && self.operands == operands.len()
            && self.types.len() == operands.len() + m.num_results(op)
            && operands.iter().copied().chain(m.results(op)).zip(&self.types).all(|(v, ty)| m.value_type(v) == *ty)
    }
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
            heads: SideTable::new((0, 0)),
            signatures: vec![SignatureText::default(); SIGNATURES],
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

    /// Prints the trailing location ` loc(...)`, if locations are printed.
    pub(crate) fn trailing_loc(&mut self, loc: Loc) {
        if self.options.debug_info {
            self.out.push(' ');
            let attr = loc.to_attr(&self.m.ctx);
            self.attrs.trailing_loc(attr, &mut self.out);
        }
    }

    /// Prints the location of a block argument, if locations are printed. As in MLIR, without an alias.
    pub(crate) fn arg_loc(&mut self, block: Block, i: usize) {
        if self.options.debug_info {
            self.out.push(' ');
            let attr = self.m.arg_loc(block, i).to_attr(&self.m.ctx);
            self.attrs.trailing_loc_inline(attr, &mut self.out);
        }
    }

    /// Prints `"name"(`.
    pub(super) fn op_head(&mut self, name: OpName) {
        let (start, len) = self.heads[name];
        if len > 0 {
            self.out.push_str(&self.cache[start as usize..(start + len) as usize]);
            return;
        }
        let at = self.out.len();
        self.out.push('"');
        push_escaped(self.m.ctx.op_name_text(name).as_bytes(), &mut self.out);
        self.out.push_str("\"(");
        if let Some(span) = self.keep(at) {
            self.heads[name] = span;
        }
    }

    /// Prints `(operand types) -> result types`.
    pub(crate) fn signature(&mut self, op: Op) {
        let (m, slot) = (self.m, self.m.name(op).index() % SIGNATURES);
        let operands = m.operands(op);
        let known = &self.signatures[slot];
        if known.is_of(m, operands, op) {
            self.out.push_str(&known.text);
            return;
        }
        let at = self.out.len();
        self.out.push('(');
        for (i, &operand) in operands.iter().enumerate() {
            self.comma(i);
            self.ty(m.value_type(operand));
        }
        self.out.push_str(") -> ");
        let types: SmallVec<[Type; 4]> =
            operands.iter().copied().chain(m.results(op)).map(|v| m.value_type(v)).collect();
        self.result_types(&types[operands.len()..]);
        let known = &mut self.signatures[slot];
        known.text.clear();
        if self.out.len() - at <= CACHED {
            known.text.push_str(&self.out[at..]);
            (known.operands, known.types) = (operands.len(), types);
        }
    }

    /// Prints one type bare, and any other number of types, or a function type, in parentheses.
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

    /// Prints a dictionary in braces.
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

    /// Caches the text printed since `at`, if it is short.
    fn keep(&mut self, at: usize) -> Option<(u32, u32)> {
        let len = self.out.len() - at;
        if len > CACHED || self.cache.len() > u32::MAX as usize - CACHED {
            return None;
        }
        let start = self.cache.len() as u32;
        self.cache.push_str(&self.out[at..]);
        Some((start, len as u32))
    }
}
