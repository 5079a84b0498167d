//! Text to IR: files, blocks, and ops in generic form. Custom forms are in `format`; types and attributes in `fine`.

use super::cursor::Cursor;
use super::fine::{AliasTable, FineError, FineParser};
use super::names::Names;
use crate::context::{Attr, Context, OpName, Str, Type};
use crate::diag::{Diagnostic, suggest};
use crate::loc::Loc;
use crate::module::{Block, Module, Op, Region, Value};
use crate::op_info::{OpInfo, Traits};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// How much the parser takes for granted.
#[derive(Clone, Copy, Default, Debug)]
pub struct ParseOptions {
    /// Accept ops of dialects that are not registered.
    pub allow_unregistered: bool,
}

/// Regions nested deeper than this are an error.
pub(crate) const MAX_DEPTH: u32 = 2048;
/// The parser gives up after this many errors.
const MAX_ERRORS: usize = 20;

/// What goes wrong while parsing. Boxed, since it is rare and results travel far.
pub(crate) type Error = Box<Diagnostic>;
pub(crate) type PResult<T> = Result<T, Error>;

/// Parses a file. The result is not verified. Errors are all that were found, in order, up to a limit.
pub fn parse_module(
    ctx: &Arc<Context>,
    name: &str,
    text: impl Into<Arc<String>>,
    options: ParseOptions,
) -> Result<Module, Vec<Diagnostic>> {
    let text = text.into();
    let source = ctx.add_source(name, text.clone());
    if text.len() >= u32::MAX as usize {
        return Err(vec![Diagnostic::error(Loc::source(source, 0), "files are limited to 4 GiB")]);
    }
    let aliases = match find_aliases(&text) {
        Ok(aliases) => aliases,
        Err((at, message, first)) => {
            let d = Diagnostic::error(Loc::source(source, at), message);
            return Err(vec![match first {
                Some(first) => d.note(Loc::source(source, first), "previously defined here"),
                None => d,
            }]);
        }
    };
    let mut parser = Parser::new(ctx, &aliases, source, &text, options);
    parser.file();
    let Parser { mut m, diags, fine, .. } = parser;
    if diags.is_empty() {
        m.alias_hints = fine.hints();
        Ok(m)
    } else {
        Err(diags)
    }
}

/// All definitions `#name = ...` and `!name = ...` that start a line, so that uses may come first. An error is a place,
/// a message, and where the name was defined before.
fn find_aliases(text: &str) -> Result<AliasTable<'_>, (usize, String, Option<usize>)> {
    let mut table = AliasTable::default();
    let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|i| i + 1));
    for start in starts {
        let mut cur = Cursor::new(text);
        cur.pos = start;
        while matches!(cur.peek(), b' ' | b'\t') {
            cur.pos += 1;
        }
        if matches!(cur.peek(), b'#' | b'!')
            && let Some(name) = alias_head(&mut cur)
        {
            let at = cur.pos;
            if let Err(message) = table.define(name, cur.rest(), at) {
                return Err((start, message, table.definition(name)));
            }
        }
    }
    Ok(table)
}

/// `#name =` here: the name with its sigil; moves to where the value starts.
fn alias_head<'a>(cur: &mut Cursor<'a>) -> Option<&'a str> {
    let start = cur.pos;
    cur.pos += 1;
    let id = cur.suffix_id();
    let name = cur.since(start);
    if id.is_empty() || !cur.eat("=") || cur.peek() == b'=' {
        return None;
    }
    cur.skip_space();
    Some(name)
}

/// The state of parsing one file.
pub(crate) struct Parser<'a> {
    pub(crate) ctx: &'a Arc<Context>,
    pub(crate) m: Module,
    pub(crate) cur: Cursor<'a>,
    pub(crate) fine: FineParser<'a>,
    pub(crate) names: Names<'a>,
    aliases: &'a AliasTable<'a>,
    source: u32,
    options: ParseOptions,
    diags: Vec<Diagnostic>,
    /// Labels of the region being parsed.
    labels: FxHashMap<&'a str, Label>,
    depth: u32,
    op_names: FxHashMap<&'a str, OpName>,
    signatures: FxHashMap<&'a str, Types>,
    normal: FxHashMap<(OpName, Attr, Attr), (Attr, Attr)>,
    /// Dialects whose prefix may be left out, innermost last.
    default_dialects: Vec<&'static str>,
}

/// The operand and result types that a signature names.
type Types = (SmallVec<[Type; 4]>, SmallVec<[Type; 2]>);

/// A block that was named: where first, and whether it has been defined.
#[derive(Clone, Copy)]
struct Label {
    block: Block,
    offset: usize,
    defined: bool,
}

/// An operand as written: `%name#number`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueRef<'a> {
    pub(crate) name: &'a str,
    pub(crate) number: u32,
    pub(crate) offset: usize,
}

/// Everything that was read of an op, before it is made.
pub(crate) struct ParsedOp<'a> {
    pub(crate) name: OpName,
    pub(crate) offset: usize,
    pub(crate) operands: SmallVec<[Value; 4]>,
    pub(crate) result_types: SmallVec<[Type; 2]>,
    pub(crate) props: Attr,
    pub(crate) attrs: Attr,
    pub(crate) successors: SmallVec<[Block; 2]>,
    pub(crate) regions: SmallVec<[Region; 2]>,
    pub(crate) loc: Option<Loc>,
    marker: std::marker::PhantomData<&'a ()>,
}

impl ParsedOp<'_> {
    pub(crate) fn new(name: OpName, offset: usize) -> Self {
        ParsedOp {
            name,
            offset,
            operands: SmallVec::new(),
            result_types: SmallVec::new(),
            props: Attr::EMPTY_DICT,
            attrs: Attr::EMPTY_DICT,
            successors: SmallVec::new(),
            regions: SmallVec::new(),
            loc: None,
            marker: std::marker::PhantomData,
        }
    }
}

impl<'a> Parser<'a> {
    fn new(
        ctx: &'a Arc<Context>,
        aliases: &'a AliasTable<'a>,
        source: u32,
        text: &'a str,
        options: ParseOptions,
    ) -> Self {
        Parser {
            ctx,
            m: Module::new(ctx.clone()),
            cur: Cursor::new(text),
            fine: FineParser::new(ctx, aliases),
            names: Names::default(),
            aliases,
            source,
            options,
            diags: Vec::new(),
            labels: FxHashMap::default(),
            depth: 0,
            op_names: FxHashMap::default(),
            signatures: FxHashMap::default(),
            normal: FxHashMap::default(),
            default_dialects: vec!["builtin"],
        }
    }

    /// An error at a byte of the text. What was expected but does not come before the end of a line is missed there,
    /// not where the next line starts.
    pub(crate) fn error(&self, offset: usize, message: impl Into<String>) -> Error {
        let message = message.into();
        let text = self.cur.text();
        let offset = offset.min(text.len());
        let before = text.get(..offset).unwrap_or("").trim_end().len();
        let moved = before > 0 && message.starts_with("expected") && text[before..offset].contains('\n');
        Box::new(Diagnostic::error(self.place(if moved { before } else { offset }), message))
    }

    /// An error at the next token.
    pub(crate) fn error_here<T>(&mut self, message: impl Into<String>) -> PResult<T> {
        self.cur.skip_space();
        Err(self.error(self.cur.pos, message))
    }

    pub(crate) fn place(&self, offset: usize) -> Loc {
        Loc::source(self.source, offset)
    }

    /// The error of a type or attribute whose text starts at `base`.
    pub(crate) fn fine_error(&self, base: usize, e: FineError) -> Error {
        self.error(base + e.offset, e.message)
    }

    /// Takes a token that must come.
    pub(crate) fn expect(&mut self, token: &str) -> PResult<()> {
        if self.cur.eat(token) {
            return Ok(());
        }
        self.error_here(format!("expected '{token}'"))
    }

    // ---- files

    fn file(&mut self) {
        let body = self.m.body();
        self.block_ops(body, true);
        self.close_names(0);
        if self.diags.is_empty() {
            self.unwrap_module();
        }
    }

    /// A file that is one module is that module, not a module in a module.
    fn unwrap_module(&mut self) {
        let body = self.m.body();
        let only = self.m.first_op(body).filter(|&op| self.m.next_op(op).is_none());
        if let Some(op) = only.filter(|&op| self.m.name_text(op) == "builtin.module" && self.m.regions(op).len() == 1) {
            self.m.unlink_op(op);
            let old = std::mem::replace(&mut self.m.root, op);
            self.m.erase_op(old);
        }
    }

    /// A top-level definition of an alias or of resources; `false` when there is none here.
    fn definition(&mut self) -> PResult<bool> {
        match self.cur.peek() {
            b'#' | b'!' => {
                let start = self.cur.pos;
                let Some(name) = alias_head(&mut self.cur) else {
                    return Err(self.error(start, "expected the definition of an alias: '#name = value'"));
                };
                if !self.aliases.contains(name) {
                    return Err(self.error(start, "the definition of an alias must start its line"));
                }
                let at = self.cur.pos;
                self.cur.pos += self.fine.alias(name).map_err(|e| self.fine_error(at, e))?;
                Ok(true)
            }
            b'{' if self.cur.rest().starts_with("{-#") => {
                let start = self.cur.pos;
                let Some(len) = self.cur.rest().find("#-}") else {
                    return Err(self.error(start, "the resource section is not closed"));
                };
                self.cur.pos += len + 3;
                let resources = self.fine.resources(self.cur.since(start)).map_err(|e| self.fine_error(start, e))?;
                self.m.resources = resources;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    // ---- blocks and regions

    /// `{ blocks }`, the brace taken already or not as `opened` says. `args` are arguments of the entry block that the
    /// op's own text declares. Ends after the closing brace.
    pub(crate) fn region(&mut self, isolated: bool, args: &[(ValueRef<'a>, Type, Loc)]) -> PResult<Region> {
        self.expect("{")?;
        let open = self.cur.pos - 1;
        if self.depth >= MAX_DEPTH {
            return Err(self.error(open, format!("regions nested deeper than {MAX_DEPTH} levels")));
        }
        let region = self.m.detached_region();
        let labels = std::mem::take(&mut self.labels);
        let outer = self.names.push(isolated);
        self.depth += 1;
        let result = stacker::maybe_grow(128 << 10, 2 << 20, || self.region_body(region, open, args));
        self.depth -= 1;
        if isolated {
            self.close_names(self.names.isolation());
        }
        self.names.pop(outer);
        let labels = std::mem::replace(&mut self.labels, labels);
        result?;
        let mut undefined: Vec<_> = labels.iter().filter(|(_, l)| !l.defined).map(|(n, l)| (l.offset, *n)).collect();
        undefined.sort_unstable();
        for (offset, name) in undefined {
            self.report(*self.error(offset, format!("reference to an undefined block '^{name}'")));
        }
        Ok(region)
    }

    fn region_body(&mut self, region: Region, open: usize, args: &[(ValueRef<'a>, Type, Loc)]) -> PResult<()> {
        self.cur.skip_space();
        if self.cur.peek() == b'}' && args.is_empty() {
            self.cur.pos += 1;
            return Ok(());
        }
        if self.cur.peek() != b'^' || !args.is_empty() {
            let entry = self.m.add_block(region);
            for (name, ty, loc) in args {
                let value = self.m.add_block_arg(entry, *ty, *loc);
                self.define(name.name, name.offset, value, 1)?;
            }
            self.cur.skip_space();
            if self.cur.peek() == b'^' && !args.is_empty() {
                return self.error_here("the entry block's arguments are declared by the op, not by a label");
            }
            self.block_ops(entry, false);
        }
        loop {
            self.cur.skip_space();
            match self.cur.peek() {
                b'^' => {
                    let block = self.label(region)?;
                    self.block_ops(block, false);
                }
                b'}' => {
                    self.cur.pos += 1;
                    return Ok(());
                }
                _ => {
                    return Err(Box::new(
                        Diagnostic::error(self.place(self.cur.pos), "expected '}' to close the region")
                            .note(self.place(open), "opened here"),
                    ));
                }
            }
        }
    }

    /// `^name(%a: type, ...):`
    fn label(&mut self, region: Region) -> PResult<Block> {
        let offset = self.cur.pos;
        self.cur.pos += 1;
        let name = self.cur.suffix_id();
        if name.is_empty() {
            return Err(self.error(offset, "expected the name of a block after '^'"));
        }
        let block = self.block_named(name, offset);
        let label = self.labels.get_mut(name).expect("just made");
        if label.defined {
            let first = label.offset;
            return Err(Box::new(
                Diagnostic::error(self.place(offset), format!("redefinition of block '^{name}'"))
                    .note(self.place(first), "first defined here"),
            ));
        }
        (label.defined, label.offset) = (true, offset);
        self.m.append_block(region, block);
        if self.cur.eat("(") && !self.cur.eat(")") {
            loop {
                self.block_arg(block)?;
                if !self.cur.eat(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.expect(":")?;
        Ok(block)
    }

    fn block_arg(&mut self, block: Block) -> PResult<()> {
        let name = self.value_ref()?;
        if name.number != 0 || self.cur.peek() == b'#' {
            return Err(self.error(name.offset, "a block argument has no result number"));
        }
        self.expect(":")?;
        let ty = self.ty()?;
        let loc = self.trailing_loc()?.unwrap_or(self.place(name.offset));
        let value = self.m.add_block_arg(block, ty, loc);
        self.define(name.name, name.offset, value, 1)
    }

    /// The block of that name in this region, made when it is first mentioned.
    fn block_named(&mut self, name: &'a str, offset: usize) -> Block {
        let m = &mut self.m;
        self.labels.entry(name).or_insert_with(|| Label { block: m.create_block(), offset, defined: false }).block
    }

    /// `^name`
    pub(crate) fn successor(&mut self) -> PResult<Block> {
        self.cur.skip_space();
        let offset = self.cur.pos;
        if self.cur.peek() != b'^' {
            return Err(self.error(offset, "expected a block name"));
        }
        self.cur.pos += 1;
        let name = self.cur.suffix_id();
        if name.is_empty() {
            return Err(self.error(offset, "expected a block name"));
        }
        Ok(self.block_named(name, offset))
    }

    /// Ops up to a label, a closing brace or the end. Errors are reported, and parsing goes on at the next line that
    /// looks like an op.
    fn block_ops(&mut self, block: Block, top: bool) {
        while self.diags.len() < MAX_ERRORS {
            self.cur.skip_space();
            let at = self.cur.pos;
            let result = match self.cur.peek() {
                0 if self.cur.at_end() => return,
                b'^' | b'}' if !top => return,
                b'#' | b'!' | b'{' if top => self
                    .definition()
                    .and_then(|done| if done { Ok(()) } else { Err(self.error(at, "expected an operation")) }),
                _ => self.op(block),
            };
            if let Err(e) = result {
                let place = e.loc.as_source().map_or(at, |(_, offset)| offset);
                self.report(*e);
                self.recover(at, place.max(at));
            }
        }
        self.cur.pos = self.cur.text().len();
    }

    fn report(&mut self, e: Diagnostic) {
        self.diags.push(e);
    }

    /// Moves past the op that starts at `at`: to the next line after the error that begins like an op. The names in
    /// what is skipped may have been defined there; nothing is said about them any more.
    fn recover(&mut self, at: usize, error: usize) {
        self.cur.pos = error.min(self.cur.text().len());
        self.skip_to_op();
        let mut skipped = Cursor::new(&self.cur.text()[..self.cur.pos]);
        skipped.pos = at;
        while let Some(i) = memchr::memchr(b'%', &skipped.text().as_bytes()[skipped.pos..]) {
            skipped.pos += i + 1;
            let name = skipped.suffix_id();
            self.names.poisoned.insert(name);
        }
    }

    fn skip_to_op(&mut self) {
        loop {
            self.cur.skip_line();
            self.cur.skip_space();
            let next = self.cur.peek();
            if self.cur.at_end() || matches!(next, b'%' | b'"' | b'^' | b'}') || next.is_ascii_alphabetic() {
                return;
            }
        }
    }

    // ---- ops

    fn op(&mut self, block: Block) -> PResult<()> {
        let start = self.cur.pos;
        let mut results: SmallVec<[(&'a str, u32, usize); 2]> = SmallVec::new();
        if self.cur.peek() == b'%' {
            self.result_names(&mut results)?;
        }
        self.cur.skip_space();
        let parsed = match self.cur.peek() {
            b'"' => self.generic_op(start)?,
            b if b.is_ascii_alphabetic() || b == b'_' => self.custom_op(start)?,
            _ => return Err(self.error(self.cur.pos, "expected an operation")),
        };
        let op = self.finish_op(parsed)?;
        self.m.append_op(block, op);
        self.name_results(op, start, &results)
    }

    /// `%a, %b:2 =`
    fn result_names(&mut self, results: &mut SmallVec<[(&'a str, u32, usize); 2]>) -> PResult<()> {
        loop {
            self.cur.skip_space();
            let offset = self.cur.pos;
            if self.cur.peek() != b'%' {
                return Err(self.error(offset, "expected the name of a result"));
            }
            self.cur.pos += 1;
            let name = self.cur.suffix_id();
            if name.is_empty() {
                return Err(self.error(offset, "expected a name after '%'"));
            }
            let mut count = 1;
            if self.cur.eat(":") {
                self.cur.skip_space();
                let at = self.cur.pos;
                count = self.cur.digits().parse().unwrap_or(0);
                if count == 0 {
                    return Err(self.error(at, "expected a positive number of results that fits 32 bits"));
                }
            }
            results.push((name, count, offset));
            if !self.cur.eat(",") {
                break;
            }
        }
        self.expect("=")
    }

    fn name_results(&mut self, op: Op, start: usize, names: &[(&'a str, u32, usize)]) -> PResult<()> {
        let have = self.m.num_results(op) as u64;
        let want: u64 = names.iter().map(|n| u64::from(n.1)).sum();
        if want == 0 {
            return Ok(());
        }
        if have != want {
            let name = self.m.name_text(op);
            let message = if have == 0 {
                format!("cannot name an operation with no results: '{name}'")
            } else {
                format!("operation defines {have} results but was provided {want} to bind")
            };
            return Err(self.error(start, message));
        }
        let mut first = 0;
        for &(name, count, offset) in names {
            let value = self.m.result(op, first);
            self.define(name, offset, value, count)?;
            first += count as usize;
        }
        Ok(())
    }

    /// `"name"(operands)[successors] <{props}> ({regions}) {attrs} : signature loc(...)`
    fn generic_op(&mut self, start: usize) -> PResult<ParsedOp<'a>> {
        let at = self.cur.pos;
        if !self.cur.skip_string() {
            return Err(self.error(at, "expected '\"' to close the name"));
        }
        let quoted = &self.cur.text()[at + 1..self.cur.pos - 1];
        let name = self.op_name(quoted, at)?;
        let mut parsed = ParsedOp::new(name, start);
        let refs = self.operand_refs()?;
        if self.cur.eat("[") {
            loop {
                let block = self.successor()?;
                parsed.successors.push(block);
                if !self.cur.eat(",") {
                    break;
                }
            }
            self.expect("]")?;
        }
        if self.cur.eat("<{") {
            self.cur.pos -= 1;
            parsed.props = self.dict()?;
            self.expect(">")?;
        }
        if self.cur.eat("(") {
            let isolated = self.ctx.op_info(name).is_some_and(|i| i.traits.has(Traits::ISOLATED));
            loop {
                let region = self.region(isolated, &[])?;
                parsed.regions.push(region);
                if !self.cur.eat(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.cur.skip_space();
        if self.cur.peek() == b'{' {
            parsed.attrs = self.dict()?;
        }
        self.expect(":")?;
        self.signature(&mut parsed, &refs)?;
        parsed.loc = self.trailing_loc()?;
        Ok(parsed)
    }

    /// `(%a, %b#1)`
    fn operand_refs(&mut self) -> PResult<SmallVec<[ValueRef<'a>; 4]>> {
        let mut refs = SmallVec::new();
        self.expect("(")?;
        self.cur.skip_space();
        if self.cur.peek() != b')' {
            loop {
                refs.push(self.value_ref()?);
                if !self.cur.eat(",") {
                    break;
                }
            }
        }
        self.expect(")")?;
        Ok(refs)
    }

    /// `%name` or `%name#1`
    pub(crate) fn value_ref(&mut self) -> PResult<ValueRef<'a>> {
        self.cur.skip_space();
        let offset = self.cur.pos;
        if self.cur.peek() != b'%' {
            return self.error_here("expected SSA operand");
        }
        self.cur.pos += 1;
        let name = self.cur.suffix_id();
        if name.is_empty() {
            return Err(self.error(offset, "expected a name after '%'"));
        }
        let mut number = 0;
        if self.cur.peek() == b'#' {
            self.cur.pos += 1;
            number = match self.cur.digits().parse() {
                Ok(number) => number,
                Err(_) => return Err(self.error(offset, "invalid SSA value result number")),
            };
        }
        Ok(ValueRef { name, number, offset })
    }

    /// The function type at the end of a generic op: types of its operands and results.
    fn signature(&mut self, parsed: &mut ParsedOp<'a>, refs: &[ValueRef<'a>]) -> PResult<()> {
        self.cur.skip_space();
        let at = self.cur.pos;
        if self.cur.peek() != b'(' {
            return Err(self.error(at, "expected a function type"));
        }
        self.cur.skip_type().map_err(|at| self.error(at, "malformed function type"))?;
        let text = self.cur.since(at);
        if !self.signatures.contains_key(text) {
            let (inputs, results) = self.fine.signature(text).map_err(|e| self.fine_error(at, e))?;
            self.signatures.insert(text, (inputs.into(), results.into()));
        }
        let (inputs, results) = &self.signatures[text];
        parsed.result_types.extend_from_slice(results);
        if inputs.len() != refs.len() {
            let message = format!("expected {} operand types but had {}", refs.len(), inputs.len());
            return Err(self.error(at, message));
        }
        for (i, value) in refs.iter().enumerate() {
            let ty = self.signatures[text].0[i];
            let value = self.resolve(*value, ty)?;
            parsed.operands.push(value);
        }
        Ok(())
    }

    /// The key of an op name, checked once per spelling.
    fn op_name(&mut self, text: &'a str, at: usize) -> PResult<OpName> {
        if let Some(&name) = self.op_names.get(text) {
            return Ok(name);
        }
        if text.is_empty() || text.contains('\0') {
            return Err(self.error(at, "empty operation name"));
        }
        let unescaped;
        let spelled = if text.contains('\\') {
            unescaped = super::fine::unescape(text);
            match std::str::from_utf8(&unescaped) {
                Ok(s) => s,
                Err(_) => return Err(self.error(at, "operation names are UTF-8")),
            }
        } else {
            text
        };
        let name = self.ctx.op_name(spelled);
        if self.ctx.op_info(name).is_none() {
            self.check_unregistered(spelled, at)?;
        }
        self.op_names.insert(text, name);
        Ok(name)
    }

    fn check_unregistered(&self, name: &str, at: usize) -> PResult<()> {
        let dialect = name.split('.').next().unwrap_or("");
        if self.options.allow_unregistered && (dialect == name || self.ctx.dialect(dialect).is_none()) {
            return Ok(());
        }
        Err(Box::new(unknown_op(self.ctx, self.place(at), name)))
    }

    fn custom_op(&mut self, start: usize) -> PResult<ParsedOp<'a>> {
        let at = self.cur.pos;
        let word = self.cur.word();
        let Some(name) = self.custom_name(word) else {
            return Err(Box::new(unknown_op(self.ctx, self.place(at), word)));
        };
        let info = self.ctx.op_info(name).expect("only registered ops have custom forms");
        let mut parsed = ParsedOp::new(name, start);
        let dialect = info.name.split('.').next().unwrap_or("");
        let deeper = !info.regions.is_empty();
        if deeper {
            self.default_dialects.push(dialect);
        }
        let result = super::format_parse::parse_custom(self, info, &mut parsed);
        if deeper {
            self.default_dialects.pop();
        }
        result?;
        parsed.loc = self.trailing_loc()?;
        Ok(parsed)
    }

    /// The registered op that a bare word names, with the prefixes that may be left out.
    fn custom_name(&mut self, word: &'a str) -> Option<OpName> {
        let has_form = |name: OpName| self.ctx.op_info(name).is_some_and(|i| i.format.is_some());
        if let Some(&name) = self.op_names.get(word).filter(|&&n| has_form(n)) {
            return Some(name);
        }
        let direct = self.ctx.op_name(word);
        if has_form(direct) {
            self.op_names.insert(word, direct);
            return Some(direct);
        }
        let dialects = self.default_dialects.iter().rev().copied().chain(["builtin", "func"]);
        dialects.map(|d| self.ctx.op_name(&format!("{d}.{word}"))).find(|&n| has_form(n))
    }

    /// Makes the op: regions attached, inherent attributes sorted out.
    fn finish_op(&mut self, parsed: ParsedOp<'a>) -> PResult<Op> {
        let loc = parsed.loc.unwrap_or(self.place(parsed.offset));
        let (props, attrs) = match self.ctx.op_info(parsed.name) {
            Some(info) => self.normalize(info, parsed.name, parsed.props, parsed.attrs, parsed.offset)?,
            None => (parsed.props, parsed.attrs),
        };
        let op = self.m.create_raw(
            parsed.name,
            loc,
            &parsed.operands,
            &parsed.result_types,
            props,
            attrs,
            &parsed.successors,
            0,
        );
        for region in parsed.regions {
            self.m.attach_region(op, region);
        }
        Ok(op)
    }

    /// Moves declared attributes from the discardable dictionary to the properties and adds declared defaults.
    pub(crate) fn normalize(
        &mut self,
        info: &'static OpInfo,
        name: OpName,
        props: Attr,
        attrs: Attr,
        offset: usize,
    ) -> PResult<(Attr, Attr)> {
        if info.attrs.is_empty() && attrs == Attr::EMPTY_DICT {
            return Ok((props, attrs));
        }
        if let Some(&normal) = self.normal.get(&(name, props, attrs)) {
            return Ok(normal);
        }
        let ctx = self.ctx.clone();
        let mut inherent: Vec<(Str, Attr)> = ctx.dict_entries(props).to_vec();
        let mut rest = Vec::new();
        for &(key, value) in ctx.dict_entries(attrs) {
            if !info.is_inherent(ctx.text(key)) {
                rest.push((key, value));
            } else if inherent.iter().any(|e| e.0 == key) {
                let message = format!("'{}' is given twice, among the properties and the attributes", ctx.text(key));
                return Err(self.error(offset, message));
            } else {
                inherent.push((key, value));
            }
        }
        for spec in info.attrs {
            let Some(default) = spec.default else { continue };
            let key = ctx.str(spec.name);
            if !inherent.iter().any(|e| e.0 == key) {
                inherent.push((key, ctx.default_attr(default)));
            }
        }
        let normal = (ctx.dict_attr(inherent), ctx.dict_attr(rest));
        self.normal.insert((name, props, attrs), normal);
        Ok(normal)
    }

    // ---- names

    /// Gives `count` values from `first` on a name, and resolves what was used before.
    pub(crate) fn define(&mut self, name: &'a str, offset: usize, first: Value, count: u32) -> PResult<()> {
        if let Some(earlier) = self.names.redefined(name) {
            return Err(Box::new(
                Diagnostic::error(self.place(offset), format!("redefinition of SSA value '%{name}'"))
                    .note(self.place(earlier), "previously defined here"),
            ));
        }
        for (placeholder, number, used) in self.names.define(name, offset, first, count) {
            if number >= count {
                return Err(self.error(used, format!("reference to invalid result number {number} of '%{name}'")));
            }
            let value = self.m.nth_value(first, number);
            let (have, want) = (self.m.value_type(value), self.m.value_type(placeholder));
            if have != want {
                return Err(self.type_mismatch(used, name, want, have, offset));
            }
            self.m.replace_all_uses(placeholder, value);
            self.m.values.free(placeholder);
        }
        Ok(())
    }

    /// The value that `value` names, of type `ty`; a placeholder when it is not defined yet.
    pub(crate) fn resolve(&mut self, value: ValueRef<'a>, ty: Type) -> PResult<Value> {
        let ValueRef { name, number, offset } = value;
        match self.names.get(name) {
            Some((first, count, defined)) => {
                if number >= count {
                    return Err(self.error(offset, "reference to invalid result number"));
                }
                let found = self.m.nth_value(first, number);
                let have = self.m.value_type(found);
                if have != ty {
                    return Err(self.type_mismatch(offset, name, ty, have, defined));
                }
                Ok(found)
            }
            None => {
                if let Some(placeholder) = self.names.forward(name, number) {
                    let have = self.m.value_type(placeholder);
                    if have != ty {
                        return Err(self.type_mismatch(offset, name, ty, have, offset));
                    }
                    return Ok(placeholder);
                }
                let placeholder = self.m.placeholder(ty);
                self.names.add_forward(name, number, placeholder, offset);
                Ok(placeholder)
            }
        }
    }

    fn type_mismatch(&self, used: usize, name: &str, want: Type, have: Type, defined: usize) -> Error {
        let (want, have) = (self.ctx.display_type(want), self.ctx.display_type(have));
        let message = format!("use of value '%{name}' expects different type than prior uses: '{want}' vs '{have}'");
        Box::new(Diagnostic::error(self.place(used), message).note(self.place(defined), "prior use here"))
    }

    /// Complains about names that were used since scope `isolation` began and never defined.
    fn close_names(&mut self, isolation: u32) {
        for (name, offset) in self.names.unresolved(isolation) {
            if self.names.poisoned.contains(name) || self.diags.len() >= MAX_ERRORS {
                continue;
            }
            let mut d = Diagnostic::error(self.place(offset), format!("use of undeclared SSA value name '%{name}'"));
            if let Some(near) = suggest(name, self.names.visible()) {
                d = d.note(self.place(offset), format!("did you mean '%{near}'?"));
            }
            self.diags.push(d);
        }
    }

    // ---- types and attributes

    /// A type.
    pub(crate) fn ty(&mut self) -> PResult<Type> {
        self.cur.skip_space();
        let at = self.cur.pos;
        if self.cur.skip_type().is_err() {
            // The grammar says what is missing, and where.
            self.cur.pos = at;
            let rest = self.cur.rest();
            return match self.fine.ty_prefix(rest) {
                Ok((ty, used)) => {
                    self.cur.pos += used;
                    Ok(ty)
                }
                Err(e) => Err(self.fine_error(at, e)),
            };
        }
        let text = self.cur.since(at);
        self.fine.ty(text).map_err(|e| self.fine_error(at, e))
    }

    /// An attribute, with its type if it has one.
    pub(crate) fn attr(&mut self) -> PResult<Attr> {
        self.cur.skip_space();
        let at = self.cur.pos;
        let rest = self.cur.rest();
        let (attr, used) = self.fine.attr_prefix(rest).map_err(|e| self.fine_error(at, e))?;
        self.cur.pos += used;
        Ok(attr)
    }

    /// `{a = 1, b}`
    pub(crate) fn dict(&mut self) -> PResult<Attr> {
        self.cur.skip_space();
        let at = self.cur.pos;
        if self.cur.peek() != b'{' {
            return Err(self.error(at, "expected '{'"));
        }
        self.cur.skip_balanced().map_err(|at| self.error(at, "expected this bracket or string to be closed"))?;
        let text = self.cur.since(at);
        self.fine.dict(text).map_err(|e| self.fine_error(at, e))
    }

    /// `loc(...)`, if it is next.
    pub(crate) fn trailing_loc(&mut self) -> PResult<Option<Loc>> {
        self.cur.skip_space();
        if self.cur.peek() != b'l' || !self.cur.eat_word("loc") {
            return Ok(None);
        }
        self.cur.skip_space();
        let at = self.cur.pos;
        if self.cur.peek() != b'(' {
            return Err(self.error(at, "expected '(' after loc"));
        }
        self.cur.skip_balanced().map_err(|at| self.error(at, "expected this bracket or string to be closed"))?;
        let text = &self.cur.text()[at + 1..self.cur.pos - 1];
        let attr = self.fine.loc(text).map_err(|e| self.fine_error(at + 1, e))?;
        Ok(Some(Loc::attr(attr)))
    }
}

/// "unregistered operation", with the nearest registered name.
fn unknown_op(ctx: &Context, loc: Loc, name: &str) -> Diagnostic {
    let dialect = name.split('.').next().unwrap_or("");
    let message = if ctx.dialect(dialect).is_some() && dialect != name {
        format!("dialect '{dialect}' has no operation '{name}'")
    } else {
        format!(
            "unregistered operation '{name}' (ops of unknown dialects need --allow-unregistered-dialect and the generic form)"
        )
    };
    let known = ctx.dialects().iter().flat_map(|d| d.ops).map(|info| info.name);
    let d = Diagnostic::error(loc, message);
    match suggest(name, known) {
        Some(near) => d.note(loc, format!("did you mean '{near}'?")),
        None => d,
    }
}
