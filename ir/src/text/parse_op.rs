//! Parsing of ops: result names, the generic form, and the parts common to both forms. Custom forms are in `format`.

use super::parse::MAX_ERRORS;
use super::parser::{ATTRS, Error, PROPS, PResult, ParsedOp, Parser, RECENT, ValueRef};
use super::type_attr_parser::{MAX_DEPTH, ParseError, TypeAttrParser, check_op};
use crate::entity::Entity;
use crate::intern::{Attr, OpName, Str, Type};
use crate::module::{Block, Op, Value};
use crate::op_info::OpInfo;
use crate::text::diag::{Diagnostic, suggest};
use crate::traits::Traits;
use smallvec::SmallVec;

/// The error message for a name that is never defined, without the name.
pub(super) const UNDECLARED: &str = "use of undeclared SSA value name";
/// The start of the error for a definition whose type is not that of an earlier use.
pub(super) const MISTYPED: &str = "definition of SSA value";
/// The start of the error for an earlier use of a result that an op does not have.
pub(super) const NO_RESULT: &str = "reference to invalid result number";

impl<'a> Parser<'a> {
    pub(super) fn op(&mut self, block: Block) -> PResult<()> {
        let start = self.cur.pos;
        let mut results: SmallVec<[(&'a str, u32, usize); 2]> = SmallVec::new();
        if self.cur.peek() == b'%' {
            self.result_names(&mut results)?;
        }
        self.cur.skip_space();
        // The location of an op is that of its name, as in MLIR.
        let at = self.cur.pos;
        let parsed = match self.cur.peek() {
            b'"' => self.generic_op(at)?,
            b if b.is_ascii_alphabetic() || b == b'_' => self.custom_op(at)?,
            _ => return Err(self.error(self.cur.pos, "expected an operation")),
        };
        let op = self.finish_op(parsed)?;
        self.m.append_op(block, op);
        self.name_results(op, start, &results)?;
        if self.by_grammar() && self.depth == 0 && self.diags.is_empty() { self.check_op(start) } else { Ok(()) }
    }

    /// Checks the top-level op that begins at `start` and ends here against the rules of the grammar for ops, which
    /// describe the generic form.
    fn check_op(&mut self, start: usize) -> PResult<()> {
        let levels = 2 * std::mem::take(&mut self.deepest) as usize + MAX_DEPTH;
        if std::mem::take(&mut self.custom_forms) > 0 {
            return Ok(());
        }
        check_op(self.cur.since(start), levels).map_err(|e| self.type_attr_error(start, e))
    }

    /// Parses `%a, %b:2 =`.
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
            if self.cur.next_byte() == b':' {
                self.cur.pos += 1;
                self.cur.skip_space();
                let at = self.cur.pos;
                count = self.cur.digits().parse().unwrap_or(0);
                if count == 0 {
                    return Err(self.error(at, "expected a positive number of results that fits 32 bits"));
                }
            }
            results.push((name, count, offset));
            if self.cur.next_byte() != b',' {
                break;
            }
            self.cur.pos += 1;
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

    /// Parses `"name"(operands)[successors] <{props}> ({regions}) {attrs} : signature loc(...)`.
    fn generic_op(&mut self, start: usize) -> PResult<ParsedOp> {
        let at = self.cur.pos;
        if !self.cur.skip_string() {
            return Err(self.error(at, "this string is never closed"));
        }
        let quoted = &self.cur.text()[at + 1..self.cur.pos - 1];
        let name = self.op_name(quoted, at)?;
        let mut parsed = ParsedOp::new(name, start);
        let refs = self.operand_refs()?;
        if self.cur.next_byte() == b'[' {
            self.cur.pos += 1;
            loop {
                let block = self.successor()?;
                parsed.successors.push(block);
                if !self.cur.eat(",") {
                    break;
                }
            }
            self.expect("]")?;
        }
        if self.cur.eat("<") {
            self.cur.skip_space();
            parsed.props = self.op_dict(name, PROPS)?;
            self.expect(">")?;
        }
        if self.cur.next_byte() == b'(' {
            self.cur.pos += 1;
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
        if self.cur.next_byte() == b'{' {
            parsed.attrs = self.op_dict(name, ATTRS)?;
        }
        self.expect(":")?;
        self.signature(&mut parsed, &refs)?;
        parsed.loc = self.trailing_loc()?;
        Ok(parsed)
    }

    /// Parses a dictionary of an op; `which` is its index in `RecentTexts::dicts`.
    fn op_dict(&mut self, name: OpName, which: usize) -> PResult<Attr> {
        let (at, slot) = (self.cur.pos, name.index() % RECENT);
        let rest = &self.cur.text().as_bytes()[at..];
        if self.by_grammar() {
            return self.dict();
        }
        if let Some((text, dict)) = self.recent[slot].dict(which, rest) {
            self.cur.pos += text.len();
            return Ok(dict);
        }
        let dict = self.dict()?;
        self.recent[slot].dicts[which][0] = (self.cur.since(at), dict);
        Ok(dict)
    }

    /// Parses `(%a, %b#1)`.
    fn operand_refs(&mut self) -> PResult<SmallVec<[ValueRef<'a>; 4]>> {
        let mut refs = SmallVec::new();
        self.expect("(")?;
        if self.cur.next_byte() != b')' {
            loop {
                refs.push(self.value_ref()?);
                if self.cur.next_byte() != b',' {
                    break;
                }
                self.cur.pos += 1;
            }
        }
        self.expect(")")?;
        Ok(refs)
    }

    /// Parses `%name` or `%name#1`.
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

    /// Parses the trailing function type of a generic op: the types of its operands and results.
    fn signature(&mut self, parsed: &mut ParsedOp, refs: &[ValueRef<'a>]) -> PResult<()> {
        self.cur.skip_space();
        let at = self.cur.pos;
        if self.cur.peek() != b'(' {
            return Err(self.error(at, "expected a function type"));
        }
        let signature = self.signature_index(parsed.name, at)?;
        let (inputs, results) = &self.signatures[signature];
        parsed.result_types.extend_from_slice(results);
        if inputs.len() != refs.len() {
            let message = format!("expected {} operand types but had {}", refs.len(), inputs.len());
            return Err(self.error(at, message));
        }
        for (i, value) in refs.iter().enumerate() {
            let ty = self.signatures[signature].0[i];
            let value = self.resolve(*value, ty)?;
            parsed.operands.push(value);
        }
        Ok(())
    }

    /// Parses the signature at `at`, the next token, of an op. Returns its index among the parsed ones.
    fn signature_index(&mut self, name: OpName, at: usize) -> PResult<usize> {
        if self.by_grammar() {
            return self.signature_prefix();
        }
        let slot = name.index() % RECENT;
        let (recent, index) = self.recent[slot].signature;
        if !recent.is_empty() && self.cur.text().as_bytes()[at..].starts_with(recent.as_bytes()) {
            self.cur.pos = at + recent.len();
            if self.cur.ends_type() {
                return Ok(index);
            }
            self.cur.pos = at;
        }
        if self.cur.skip_type()
            && let text = self.cur.since(at)
            && let Ok(index) = self.signature_of(text)
        {
            self.recent[slot].signature = (text, index);
            return Ok(index);
        }
        self.cur.pos = at;
        self.signature_prefix()
    }

    /// Returns the index of a signature among the parsed ones. Each distinct text is parsed once.
    fn signature_of(&mut self, text: &'a str) -> Result<usize, ParseError> {
        if let Some(&known) = self.signature_index.get(text) {
            return Ok(known);
        }
        let ty = self.type_attrs.signature(text)?;
        let index = self.add_signature(ty);
        self.signature_index.insert(text, index);
        Ok(index)
    }

    /// Parses the signature that comes next by the grammar, which also says where it ends. Returns its index.
    fn signature_prefix(&mut self) -> PResult<usize> {
        let ty = self.prefix(TypeAttrParser::signature_prefix)?;
        Ok(self.add_signature(ty))
    }

    fn add_signature(&mut self, ty: Type) -> usize {
        let (inputs, results) = self.ctx.function_parts(ty).unwrap_or_default();
        self.signatures.push((inputs.into(), results.into()));
        self.signatures.len() - 1
    }

    /// Returns the key of an op name, which is checked once per spelling.
    fn op_name(&mut self, text: &'a str, at: usize) -> PResult<OpName> {
        if let Some(&name) = self.op_names.get(text) {
            return Ok(name);
        }
        if text.is_empty() || text.contains('\0') {
            return Err(self.error(at, "empty operation name"));
        }
        let unescaped;
        let spelled = if text.contains('\\') {
            unescaped = super::type_attr_parser::unescape(text);
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

    fn custom_op(&mut self, start: usize) -> PResult<ParsedOp> {
        let at = self.cur.pos;
        let word = self.cur.word();
        let Some(name) = self.custom_name(word) else {
            return Err(self.unknown_op(word, at, true));
        };
        let info = self.ctx.op_info(name).expect("only registered ops have custom forms");
        let mut parsed = ParsedOp::new(name, start);
        self.custom_forms += 1;
        let deeper = !info.default_dialect.is_empty();
        if deeper {
            self.default_dialects.push(info.default_dialect);
        }
        let result = super::format_parse::parse_custom(self, info, &mut parsed);
        if deeper {
            self.default_dialects.pop();
        }
        result?;
        parsed.loc = self.trailing_loc()?;
        Ok(parsed)
    }

    /// Returns the registered op that a bare word names, with a default dialect prefix if necessary.
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

    /// Creates the op, with its regions and inherent attributes.
    fn finish_op(&mut self, parsed: ParsedOp) -> PResult<Op> {
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

    /// Moves declared attributes from the discardable dictionary to the properties, drops properties that an op with others
    /// does not declare, as MLIR does, and adds declared defaults.
    pub(crate) fn normalize(
        &mut self,
        info: &'static OpInfo,
        name: OpName,
        props: Attr,
        attrs: Attr,
        offset: usize,
    ) -> PResult<(Attr, Attr)> {
        if info.attrs.is_empty() && props == Attr::EMPTY_DICT && attrs == Attr::EMPTY_DICT {
            return Ok((props, attrs));
        }
        if let Some(&normal) = self.normal.get(&(name, props, attrs)) {
            return Ok(normal);
        }
        let ctx = self.ctx.clone();
        let mut inherent: Vec<(Str, Attr)> = ctx.dict_entries(props).to_vec();
        if info.has_properties() {
            inherent.retain(|entry| info.is_inherent(ctx.text(entry.0)));
        }
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

    /// Defines a name for `count` values from `first` on, and resolves its forward references.
    pub(crate) fn define(&mut self, name: &'a str, offset: usize, first: Value, count: u32) -> PResult<()> {
        if let Some(earlier) = self.names.redefined(name) {
            return Err(Box::new(
                Diagnostic::error(self.place(offset), format!("redefinition of SSA value '%{name}'"))
                    .note(self.place(earlier), "previously defined here"),
            ));
        }
        for (placeholder, number, used) in self.names.define(name, offset, first, count) {
            if number >= count {
                return Err(self.error(used, format!("{NO_RESULT} {number} of '%{name}'")));
            }
            let value = self.m.nth_value(first, number);
            let (have, want) = (self.m.value_type(value), self.m.value_type(placeholder));
            if have != want {
                let (have, want) = (self.ctx.display_type(have), self.ctx.display_type(want));
                let message = format!("{MISTYPED} '%{name}#{number}' has type '{have}'");
                let d = Diagnostic::error(self.place(offset), message);
                return Err(Box::new(d.note(self.place(used), format!("previously used here with type '{want}'"))));
            }
            self.m.replace_all_uses(placeholder, value);
            self.m.values.free(placeholder);
        }
        Ok(())
    }

    /// Returns the value that `value` names, of type `ty`; a placeholder for a forward reference.
    pub(crate) fn resolve(&mut self, value: ValueRef<'a>, ty: Type) -> PResult<Value> {
        let ValueRef { name, number, offset } = value;
        match self.names.get(name) {
            Some((first, count, defined)) => {
                if number >= count {
                    return Err(self.error(offset, NO_RESULT));
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

    /// Reports the names used since scope `isolation` began and never defined.
    pub(super) fn close_names(&mut self, isolation: u32) {
        for (name, offset) in self.names.unresolved(isolation) {
            if self.names.poisoned.contains(name) || self.diags.len() >= MAX_ERRORS {
                continue;
            }
            let mut d = Diagnostic::error(self.place(offset), format!("{UNDECLARED} '%{name}'"));
            if let Some(hidden) = self.names.hidden(name) {
                let why = "defined here, but an op in between sees no values from outside";
                d = d.note(self.place(hidden), why);
            } else if let Some(near) = suggest(name, self.names.visible()) {
                d = d.note(self.place(offset), format!("did you mean '%{near}'?"));
            }
            self.diags.push(d);
        }
    }
}
