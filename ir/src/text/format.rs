//! Custom forms: MLIR's declarative assembly format, parsed from an op's declaration and interpreted by parser and
//! printer.
//!
//! | in a format | meaning |
//! |---|---|
//! | `` `word` ``, `` `,` `` | literal text; `` ` ` `` is a blank, ` `` ` (empty) is no blank |
//! | `$name` | an operand group, attribute, region or successor group |
//! | `type($name)`, `type(operands)`, `type(results)` | types of values |
//! | `functional-type(a, b)` | `(types of a) -> types of b` |
//! | `operands`, `successors`, `regions` | all of them |
//! | `attr-dict`, `attr-dict-with-keyword` | the attributes that the format does not mention |
//! | `( a $x^ b )?`, `( ... )? : ( ... )?` | an optional group, printed if its anchor `$x` is present; else the alternative |
//! | `custom<Function>` | a function's name, signature, attributes and body |
//! | `custom<Name>($a, type($b))` | a [`Directive`] that the declaration lists |
//!
//! Types that the format omits follow from the declaration: from a constraint that allows a single type, or a type
//! relation.

use super::directive::{Directive, Param, Params, ValueGroup};
use super::format_elems::FormatElems;
use crate::context::Context;
use crate::intern::{OpName, Type};
use crate::op_info::OpInfo;
use crate::text::diag::hint;
use crate::text::lexer::{Lexer, Literal};

/// A parsed format.
pub(crate) struct Format {
    pub(crate) elems: Vec<FormatElem>,
    /// Attributes that the format spells and `attr-dict` omits.
    pub(crate) spelled: Vec<usize>,
}

/// An element of a format.
pub(crate) enum FormatElem {
    Literal(String),
    /// An explicit blank (`true`), or no blank (`false`), in place of the default spacing.
    Space(bool),
    Operand(usize),
    Attr(usize),
    Region(usize),
    Successor(usize),
    AllOperands,
    AllSuccessors,
    AllRegions,
    AttrDict {
        keyword: bool,
    },
    Type(ValueGroup),
    FunctionalType(ValueGroup, ValueGroup),
    Group {
        then: Vec<FormatElem>,
        otherwise: Vec<FormatElem>,
        anchor: Box<FormatElem>,
    },
    Function,
    Custom(&'static Directive, Params),
}

impl Format {
    /// Parses the format of a declaration. An error is a mistake in the declaration.
    pub(crate) fn parse(info: &OpInfo, text: &str) -> Result<Format, String> {
        let mut parser = FormatParser { info, lexer: Lexer::new(text, "_-") };
        let elems = parser.elems(false)?.0;
        let mut spelled = Vec::new();
        spelled_attrs(&elems, info, &mut spelled);
        Ok(Format { elems, spelled })
    }
}

fn spelled_attrs(elems: &[FormatElem], info: &OpInfo, out: &mut Vec<usize>) {
    for elem in elems {
        match elem {
            FormatElem::Attr(i) => out.push(*i),
            FormatElem::Group { then, otherwise, .. } => {
                spelled_attrs(then, info, out);
                spelled_attrs(otherwise, info, out);
            }
            FormatElem::Custom(_, params) => out.extend(params.iter().filter_map(|p| match p {
                Param::Attr(i) => Some(*i),
                _ => None,
            })),
            FormatElem::Function => {
                let names = ["sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"];
                out.extend(info.attrs.iter().enumerate().filter(|(_, a)| names.contains(&a.name)).map(|(i, _)| i));
            }
            _ => {}
        }
    }
}

/// The words that are elements.
const ELEMENTS: [&str; 8] =
    ["attr-dict", "attr-dict-with-keyword", "operands", "successors", "regions", "type", "functional-type", "custom"];

#[derive(Clone)]
struct FormatParser<'a> {
    info: &'a OpInfo,
    lexer: Lexer<'a>,
}

impl<'a> FormatElems<'a> for FormatParser<'a> {
    type Elem = FormatElem;

    fn lexer(&mut self) -> &mut Lexer<'a> {
        &mut self.lexer
    }

    fn elem(&mut self) -> Result<FormatElem, String> {
        if let Some(literal) = self.lexer.literal()? {
            return Ok(match literal {
                Literal::Text(text) => FormatElem::Literal(text.to_owned()),
                Literal::Space(blank) => FormatElem::Space(blank),
            });
        }
        if self.lexer.eat("$") {
            let name = self.lexer.word();
            return self.variable(name);
        }
        if self.lexer.eat("(") {
            return self.optional_group();
        }
        let word = self.lexer.word();
        match word {
            "attr-dict" => Ok(FormatElem::AttrDict { keyword: false }),
            "attr-dict-with-keyword" => Ok(FormatElem::AttrDict { keyword: true }),
            "operands" => Ok(FormatElem::AllOperands),
            "successors" => Ok(FormatElem::AllSuccessors),
            "regions" => Ok(FormatElem::AllRegions),
            "type" => {
                self.lexer.expect("(")?;
                let values = self.values()?;
                self.lexer.expect(")")?;
                Ok(FormatElem::Type(values))
            }
            "functional-type" => {
                self.lexer.expect("(")?;
                let inputs = self.values()?;
                self.lexer.expect(",")?;
                let results = self.values()?;
                self.lexer.expect(")")?;
                Ok(FormatElem::FunctionalType(inputs, results))
            }
            "custom" => self.custom(),
            _ => {
                let near = hint(word, ELEMENTS.into_iter());
                Err(self.lexer.error(&format!("unknown element '{word}'{near}")))
            }
        }
    }
}

impl FormatParser<'_> {
    fn custom(&mut self) -> Result<FormatElem, String> {
        self.lexer.expect("<")?;
        let name = self.lexer.word();
        self.lexer.expect(">")?;
        if name == "Function" {
            return Ok(FormatElem::Function);
        }
        let known = self.info.directives.iter().copied().chain([&CONDITION_TYPES]);
        let Some(directive) = known.into_iter().find(|d| d.name == name) else {
            let near = hint(name, self.info.directives.iter().map(|d| d.name));
            return Err(self.lexer.error(&format!("no directive 'custom<{name}>'{near}")));
        };
        let mut params = Params::new();
        if self.lexer.eat("(") {
            while !self.lexer.eat(")") {
                params.push(self.param()?);
                self.lexer.eat(",");
            }
        }
        Ok(FormatElem::Custom(directive, params))
    }

    fn param(&mut self) -> Result<Param, String> {
        if self.lexer.next_is("$")
            && let Ok(values @ ValueGroup::Result(_)) = self.clone().values()
        {
            self.values()?;
            return Ok(Param::Types(values));
        }
        let elem = self.elem()?;
        Ok(match elem {
            FormatElem::Operand(i) => Param::Operand(i),
            FormatElem::Attr(i) => Param::Attr(i),
            FormatElem::Region(i) => Param::Region(i),
            FormatElem::Successor(i) => Param::Successor(i),
            FormatElem::Type(values) => Param::Types(values),
            _ => return Err(self.lexer.error("not a parameter of a directive")),
        })
    }

    fn optional_group(&mut self) -> Result<FormatElem, String> {
        let (then, anchor, otherwise) = self.group()?;
        let anchor = Box::new(match &then[anchor] {
            FormatElem::Operand(i) => FormatElem::Operand(*i),
            FormatElem::Attr(i) => FormatElem::Attr(*i),
            FormatElem::Region(i) => FormatElem::Region(*i),
            FormatElem::Successor(i) => FormatElem::Successor(*i),
            FormatElem::Type(values) => FormatElem::Type(*values),
            FormatElem::AllOperands => FormatElem::AllOperands,
            FormatElem::Custom(directive, params) => FormatElem::Custom(directive, params.clone()),
            _ => return Err(self.lexer.error("this cannot be an anchor")),
        });
        Ok(FormatElem::Group { then, otherwise, anchor })
    }

    fn values(&mut self) -> Result<ValueGroup, String> {
        if self.lexer.eat("$") {
            let name = self.lexer.word();
            if let Some(i) = self.info.operands.iter().position(|s| s.name == name) {
                return Ok(ValueGroup::Operand(i));
            }
            return match self.info.results.iter().position(|s| s.name == name) {
                Some(i) => Ok(ValueGroup::Result(i)),
                None => {
                    let near = hint(name, self.info.operands.iter().chain(self.info.results).map(|s| s.name));
                    Err(self.lexer.error(&format!("'{name}' is neither an operand nor a result{near}")))
                }
            };
        }
        match self.lexer.word() {
            "operands" => Ok(ValueGroup::Operands),
            "results" => Ok(ValueGroup::Results),
            word => Err(self.lexer.error(&format!("expected values, found '{word}'"))),
        }
    }

    fn variable(&self, name: &str) -> Result<FormatElem, String> {
        let info = self.info;
        if let Some(i) = info.operands.iter().position(|s| s.name == name) {
            return Ok(FormatElem::Operand(i));
        }
        if let Some(i) = info.attrs.iter().position(|s| s.name == name) {
            return Ok(FormatElem::Attr(i));
        }
        if let Some(i) = info.regions.iter().position(|s| s.name == name) {
            return Ok(FormatElem::Region(i));
        }
        match info.successors.iter().position(|s| s.name == name) {
            Some(i) => Ok(FormatElem::Successor(i)),
            None => {
                let values = info.operands.iter().map(|s| s.name).chain(info.attrs.iter().map(|a| a.name));
                let groups = info.regions.iter().chain(info.successors).map(|s| s.name);
                let near = hint(name, values.chain(groups));
                Err(self.lexer.error(&format!("the declaration has no '{name}'{near}")))
            }
        }
    }
}

/// `custom<ConditionTypes>($c, $r)`: the type of `$r`, preceded by that of `$c` unless it is `i1`.
pub(crate) const CONDITION_TYPES: Directive = Directive {
    name: "ConditionTypes",
    parse: |p, params| {
        let mut ty = p.ty()?;
        let mut condition = Type::I1;
        if p.eat(",") {
            condition = std::mem::replace(&mut ty, p.ty()?);
        }
        p.set_types(params[0], vec![condition]);
        p.set_types(params[1], vec![ty]);
        Ok(())
    },
    print: |p, params| {
        let types = [p.group_types(params[0]), p.group_types(params[1])].concat();
        p.types(&types[usize::from(types.first() == Some(&Type::I1))..]);
        Ok(())
    },
};

impl Context {
    /// Returns the format of an op name, parsed on first use.
    pub(crate) fn format(&self, name: OpName) -> Option<&Result<Format, String>> {
        let info = self.op_info(name)?;
        let text = info.format?;
        self.op_row(name).format.get_or_init(|| Box::new(Format::parse(info, text))).downcast_ref()
    }
}
