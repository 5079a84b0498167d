//! Parsing of files, blocks and regions. Custom forms are in `format`; types and attributes in `type_attr_parser`.

use super::cursor::Cursor;
use super::options::{ParseOptions, Reader};
use super::parser::{Division, Label, PResult, Parser, ValueRef};
use super::type_attr_parser::{AliasTable, OF_ALIAS, TypeAttrParser};
use crate::attrs::AttrData;
use crate::context::Context;
use crate::intern::{Attr, Type};
use crate::module::{Block, Module, Region};
use crate::text::diag::{Diagnostic, suggest};
use crate::text::loc::Loc;
use std::sync::Arc;

/// Maximum nesting depth of regions.
pub(crate) const MAX_DEPTH: u32 = 2048;
/// Number of errors after which the parser stops.
pub(super) const MAX_ERRORS: usize = 20;
/// The start of the error for a block that is named and never defined.
pub(super) const UNDEFINED_BLOCK: &str = "reference to an undefined block";

/// Parses a file. The result is not verified. The error lists the errors found, in order, up to a limit.
pub fn parse_module(
    ctx: &Arc<Context>,
    name: &str,
    text: impl Into<Arc<String>>,
    options: ParseOptions,
) -> Result<Module, Vec<Diagnostic>> {
    parse_source(ctx, ctx.add_source(name, text.into()), options)
}

/// Parses a source that is already in the context, like [`parse_module`].
pub fn parse_source(ctx: &Arc<Context>, source: u32, options: ParseOptions) -> Result<Module, Vec<Diagnostic>> {
    parse(ctx, source, options, false)
}

/// Parses a text of a single op, which becomes the root of the program, whatever its name.
pub fn parse_single_op(ctx: &Arc<Context>, source: u32, options: ParseOptions) -> Result<Module, Vec<Diagnostic>> {
    parse(ctx, source, options, true)
}

fn parse(ctx: &Arc<Context>, source: u32, options: ParseOptions, single: bool) -> Result<Module, Vec<Diagnostic>> {
    let text = ctx.source(source).text.clone();
    if text.len() >= u32::MAX as usize {
        return Err(vec![Diagnostic::error(Loc::source(source, 0), "files are limited to 4 GiB")]);
    }
    let aliases = match find_aliases(&text, options.reader) {
        Ok(aliases) => aliases,
        Err((at, message, first)) => {
            let d = Diagnostic::error(Loc::source(source, at), message);
            return Err(vec![match first {
                Some(first) => d.note(Loc::source(source, first), "first defined here"),
                None => d,
            }]);
        }
    };
    let mut parser = Parser::new(ctx, &aliases, source, &text, options);
    parser.file(single);
    let Parser { mut m, diags, type_attrs, division, .. } = parser;
    if division == Division::Failed || division == Division::Done && !diags.is_empty() {
        return parse(ctx, source, ParseOptions { threads: 1, ..options }, single);
    }
    if diags.is_empty() {
        m.alias_hints = type_attrs.hints();
        Ok(m)
    } else {
        Err(in_order(diags))
    }
}

/// Sorts the errors by position. Errors at uses of an invalid alias are dropped if its definition is reported.
fn in_order(mut diags: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diags.sort_by_key(|d| d.loc.as_source());
    let is_use = |d: &Diagnostic| d.message.starts_with(OF_ALIAS);
    if !diags.iter().all(is_use) {
        diags.retain(|d| !is_use(d));
    }
    diags
}

/// Collects all definitions `#name = ...` and `!name = ...` outside of ops, so that uses may precede them. An error is an
/// offset, a message, and the offset of an earlier definition.
fn find_aliases(text: &str, reader: Reader) -> Result<AliasTable<'_>, (usize, String, Option<usize>)> {
    let mut table = AliasTable::default();
    let (mut cur, mut outside) = (Cursor::of_reader(text, reader), Cursor::new(text));
    for sigil in memchr::memchr2_iter(b'#', b'!', text.as_bytes()) {
        // Blanks after a name, with the comments among them, are skipped once.
        if sigil < cur.pos {
            continue;
        }
        cur.pos = sigil;
        let Some(name) = alias_head(&mut cur) else { continue };
        let line = text[..sigil].trim_end_matches([' ', '\t']);
        if (line.is_empty() || line.ends_with('\n') || outside.reaches(sigil))
            && let Err(message) = table.define(name, cur.rest(), cur.pos)
        {
            return Err((sigil, message, table.definition(name)));
        }
    }
    Ok(table)
}

/// Parses `#name =`: returns the name with its sigil and moves to the value.
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

impl<'a> Parser<'a> {
    // ---- files

    fn file(&mut self, single: bool) {
        // As in MLIR, an implicit module is located at line 0 of the file, or at the start of a split part.
        let source = self.ctx.source(self.source);
        let (line, column) = if source.start == (1, 1) { (0, 0) } else { source.start };
        let pos = [line, column, line, column];
        let place = self.ctx.attr(AttrData::LocFile { file: source.name, pos });
        self.m.set_loc(self.m.root(), Loc::attr(place));
        let body = self.m.body();
        self.block_ops(body, true);
        self.close_names(0);
        if self.diags.is_empty() {
            self.unwrap_module(single);
        }
    }

    /// Removes the implicit module around a single explicit one, or around any single op if `single` is set.
    fn unwrap_module(&mut self, single: bool) {
        let body = self.m.body();
        let only = self.m.first_op(body).filter(|&op| self.m.next_op(op).is_none());
        let is_module = |op| self.m.name_text(op) == "builtin.module" && self.m.regions(op).len() == 1;
        if let Some(op) = only.filter(|&op| single || is_module(op)) {
            self.m.unlink_op(op);
            let old = std::mem::replace(&mut self.m.root, op);
            self.m.erase_op(old);
        } else if single {
            let found = self.m.block_ops(body).count();
            let message = format!("source must contain a single top-level operation, found: {found}");
            self.report(Diagnostic::error(self.m.loc(self.m.root()), message));
        }
    }

    /// Parses a top-level definition of an alias or of resources; `false` if there is none here.
    fn definition(&mut self) -> PResult<bool> {
        match self.cur.peek() {
            b'#' | b'!' => {
                let start = self.cur.pos;
                let Some(name) = alias_head(&mut self.cur) else {
                    return Err(self.error(start, "expected the definition of an alias: '#name = value'"));
                };
                if self.aliases.definition(name) != Some(self.cur.pos) {
                    return Err(self.error(start, "the definition of an alias must not stand inside of brackets"));
                }
                let at = self.cur.pos;
                self.cur.pos += self.type_attrs.alias(name).map_err(|e| self.type_attr_error(at, e))?;
                Ok(true)
            }
            b'{' if self.cur.rest().starts_with("{-#") => {
                let by_grammar = self.by_grammar();
                self.m.resources = self.prefix(|p, text| match by_grammar {
                    true => p.resources_by_grammar(text),
                    false => p.resources(text),
                })?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    // ---- blocks and regions

    /// Parses `{ blocks }`, including the braces. `args` are the entry block arguments that the op's own text declares.
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
        self.deepest = self.deepest.max(self.depth);
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
            let mut error = *self.error(offset, format!("{UNDEFINED_BLOCK} '^{name}'"));
            let mut known: Vec<&str> = labels.iter().filter(|(_, l)| l.defined).map(|(n, _)| *n).collect();
            known.sort_unstable();
            if let Some(near) = suggest(name, known.into_iter()) {
                error = error.note(self.place(offset), format!("did you mean '^{near}'?"));
            }
            self.report(error);
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
                if self.names.forward(name.name, name.number).is_some() {
                    let message = format!("region entry argument '%{}' is already in use", name.name);
                    return Err(self.error(name.offset, message));
                }
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
                    let block = self.label(region).unwrap_or_else(|e| {
                        self.report(*e);
                        self.skip_to_op();
                        self.m.add_block(region)
                    });
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

    /// Parses `^name(%a: type, ...):`.
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

    /// Returns the block of a label in this region, created at its first mention.
    fn block_named(&mut self, name: &'a str, offset: usize) -> Block {
        let m = &mut self.m;
        self.labels.entry(name).or_insert_with(|| Label { block: m.create_block(), offset, defined: false }).block
    }

    /// Parses `^name`.
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

    /// Parses ops up to a label, a closing brace or the end. After an error, parsing resumes at the next line that
    /// looks like an op.
    pub(super) fn block_ops(&mut self, block: Block, top: bool) {
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
            if self.division == Division::Open {
                self.divide(block, at, top);
            }
            if let Err(e) = result {
                let place = e.loc.as_source().map_or(at, |(_, offset)| offset);
                self.report(*e);
                self.recover(at, place.max(at));
            }
        }
        self.cur.pos = self.cur.text().len();
    }

    pub(super) fn report(&mut self, e: Diagnostic) {
        self.diags.push(e);
    }

    /// Skips the op that starts at `at`: moves to the next line after the error that begins like an op. Undefined names
    /// that the skipped text may define are no longer reported.
    fn recover(&mut self, at: usize, error: usize) {
        // Blanks skipped in search of the next token do not count as parsed.
        let read = self.cur.text()[..self.cur.pos].trim_end().len();
        self.cur.pos = error.max(read).min(self.cur.text().len());
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
        // Text after an error is not checked against the grammar.
        let mut cur = Cursor::new(self.cur.text());
        cur.pos = self.cur.pos;
        loop {
            cur.skip_line_and_regions();
            let next = cur.next_byte();
            if cur.at_end() || matches!(next, b'%' | b'"' | b'^' | b'}') || next.is_ascii_alphabetic() {
                break;
            }
        }
        self.cur.pos = cur.pos;
    }

    // ---- types and attributes

    /// Parses a type.
    pub(crate) fn ty(&mut self) -> PResult<Type> {
        self.type_attrs.ty_at(&mut self.cur).map_err(|e| self.type_attr_error(0, e))
    }

    /// Parses an attribute, with its type if it has one.
    pub(crate) fn attr(&mut self) -> PResult<Attr> {
        self.type_attrs.attr_at(&mut self.cur).map_err(|e| self.type_attr_error(0, e))
    }

    /// Parses `{a = 1, b}`.
    pub(crate) fn dict(&mut self) -> PResult<Attr> {
        self.cur.skip_space();
        let at = self.cur.pos;
        if self.cur.peek() != b'{' {
            return Err(self.error(at, "expected '{'"));
        }
        if !self.by_grammar()
            && self.cur.skip_balanced()
            && let Ok(dict) = self.type_attrs.dict(self.cur.since(at))
        {
            return Ok(dict);
        }
        // The grammar determines where the dictionary ends, the error message and its offset.
        self.cur.pos = at;
        self.prefix(TypeAttrParser::dict_prefix)
    }

    /// Parses `loc(...)`, if it is next.
    pub(crate) fn trailing_loc(&mut self) -> PResult<Option<Loc>> {
        self.cur.skip_space();
        if self.cur.peek() != b'l' || !self.cur.eat_word("loc") {
            return Ok(None);
        }
        let start = self.cur.pos - "loc".len();
        self.cur.skip_space();
        let at = self.cur.pos;
        if self.cur.peek() != b'(' {
            return Err(self.error(at, "expected '(' after loc"));
        }
        if !self.by_grammar()
            && self.cur.skip_balanced()
            && let Ok(attr) = self.type_attrs.loc(&self.cur.text()[at + 1..self.cur.pos - 1])
        {
            return Ok(Some(Loc::attr(attr)));
        }
        self.cur.pos = start;
        self.prefix(TypeAttrParser::loc_prefix).map(|attr| Some(Loc::attr(attr)))
    }
}
