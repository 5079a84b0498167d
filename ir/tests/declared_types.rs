//! Declared types and attributes: their text, their parameters, and damaged input.

use gradus_ir::eval::Datum;
use gradus_ir::prelude::*;
use gradus_ir::{AttrKind, AttrText, ParseOptions, PrintOptions, parse_module};
use std::fmt;
use std::sync::Arc;

const ANY: AttrKind = AttrKind { summary: "any attribute", check: |_, _| true, text: AttrText::Full };
const INT: AttrKind =
    AttrKind { summary: "an integer", check: |c, a| c.as_int(a).is_some(), text: AttrText::Bare(Type::I64) };
const TYPE: AttrKind = AttrKind { summary: "a type", check: |c, a| c.as_type(a).is_some(), text: AttrText::Type };
const FLAG: AttrKind = AttrKind { summary: "a flag", check: |_, a| a == Attr::UNIT, text: AttrText::Flag };
const ORDER: AttrKind = AttrKind {
    summary: "an order",
    check: |c, a| c.as_int(a).is_some(),
    text: AttrText::Cases(Type::I64, &[("rows", 0), ("columns", 1)]),
};

/// A list of a type.
#[ty("t.list")]
struct List {
    /// The element.
    elem: Param<TYPE>,
    /// Maximum length.
    #[default = "8 : i64"]
    max: Param<INT>,
    /// Whether it is sorted.
    sorted: OptParam<FLAG>,
    /// Anything.
    note: OptParam<ANY>,
}

/// A matrix.
#[ty("t.matrix", format = "`<` $rows `by` $columns (`of` $elem^)? (`in` $order^)? `>`")]
struct Matrix {
    /// Rows.
    rows: Param<INT>,
    /// Columns.
    columns: Param<INT>,
    /// The element.
    elem: OptParam<TYPE>,
    /// The order of elements.
    #[default = "0 : i64"]
    order: Param<ORDER>,
}

/// Nothing.
#[ty("t.nothing")]
struct Nothing {}

/// The value of a number of 128 bits.
#[derive(PartialEq)]
struct Number(u128);

impl OwnValue for Number {}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A number of 128 bits.
#[attr("t.wide", value = |params| Some(Datum::own(Number(params.int("value")? as u128))))]
struct Wide {
    /// The value.
    value: Param<INT>,
}

/// A shape.
#[attr("t.shape", verify = |params| if params.int("rank") == Some(0) { Err(ParamError::of("rank", 0, "no rank")) } else { Ok(()) })]
struct Shape {
    /// The rank.
    rank: Param<INT>,
    /// The shape of the elements.
    inner: OptParam<Shape::KIND>,
}

static DIALECT: Dialect = Dialect {
    name: "t",
    doc: "Tests.",
    types: &[List::INFO, Matrix::INFO, Nothing::INFO],
    attrs: &[Wide::INFO, Shape::INFO],
    ..Dialect::DEFAULT
};

fn context() -> Arc<Context> {
    Context::new(&[&DIALECT])
}

/// Returns the canonical text of a type or attribute.
fn again(ctx: &Context, text: &str) -> Result<String, (usize, String)> {
    let printed = match text.starts_with('!') {
        true => ctx.parse_type(text).map(|ty| ctx.display_type(ty)),
        false => ctx.parse_attr(text).map(|attr| ctx.display_attr(attr)),
    };
    printed.map_err(|e| (e.offset, e.message))
}

#[test]
fn texts_have_one_canonical_form() {
    let ctx = context();
    let cases = [
        ("!t.list<i32>", "!t.list<i32>"),
        ("!t.list<  i32 , max=8>", "!t.list<i32>"),
        ("!t<list<i32>>", "!t.list<i32>"),
        (
            "!t.list<tensor<4xi32>, note = [1, 2 : i8], sorted, max = 3>",
            "!t.list<tensor<4xi32>, max = 3, sorted, note = [1, 2 : i8]>",
        ),
        ("!t.list<!t.list<!t.nothing>, note = @f>", "!t.list<!t.list<!t.nothing>, note = @f>"),
        ("!t.list<i1, note = 4>", "!t.list<i1, note = 4>"),
        ("!t.nothing", "!t.nothing"),
        ("!t.nothing<>", "!t.nothing"),
        ("!t.matrix<2 by 3>", "!t.matrix<2 by 3>"),
        ("!t.matrix<2 by 3 of f32 in columns>", "!t.matrix<2 by 3 of f32 in columns>"),
        ("!t.matrix< 2 by 3 in rows >", "!t.matrix<2 by 3>"),
        ("#t.wide<-5> : i64", "#t.wide<-5> : i64"),
        ("#t.shape<1, inner = <2, inner = <3>>>", "#t.shape<1, inner = <2, inner = <3>>>"),
        ("!other.list<a,b>", "!other.list<a,b>"),
        ("tensor<2x!t.nothing, #t.shape<1>>", "tensor<2x!t.nothing, #t.shape<1>>"),
    ];
    for (text, canonical) in cases {
        assert_eq!(again(&ctx, text), Ok(canonical.to_owned()), "{text}");
        assert_eq!(again(&ctx, canonical), Ok(canonical.to_owned()), "{text}");
    }
    let spaced = ctx.parse_type("!t.list< i32 >").unwrap();
    assert_eq!(spaced, List::get(&ctx, ctx.type_attr(Type::I32), ctx.int_attr(Type::I64, 8), None, None).unwrap().0);
}

#[test]
fn mistakes_have_a_place() {
    let ctx = context();
    let cases = [
        ("!t.lst<i32>", 3, "unknown type `lst` in dialect `t`; did you mean 'list'?"),
        ("#t.zzz", 3, "unknown attribute `zzz` in dialect `t`"),
        ("!t.list", 7, "expected '<'"),
        ("!t.list<>", 8, "expected a type for parameter 'elem'"),
        ("!t.list<i32, maxx = 3>", 13, "'t.list' has no optional parameter 'maxx'; did you mean 'max'?"),
        ("!t.list<i32, max = 3, max = 4>", 22, "parameter 'max' is given twice"),
        ("!t.list<i32, max>", 16, "expected '='"),
        ("!t.list<i32 max = 3>", 12, "expected ','"),
        ("!t.nothing<3>", 11, "expected '>'"),
        ("!t.matrix<2 by>", 14, "expected an integer for parameter 'columns'"),
        ("!t.matrix<2 by 3 in front>", 20, "expected one of: rows, columns"),
        ("#t.shape<0>", 9, "no rank"),
        ("#t.shape<1, inner = <0>>", 21, "no rank"),
        ("#t.shape<1> : i32", 8, "#t.shape has no type"),
    ];
    for (text, at, message) in cases {
        assert_eq!(again(&ctx, text), Err((at, message.to_owned())), "{text}");
    }
}

#[test]
fn aliases_are_resolved() {
    let ctx = context();
    let text = "!e = f32\n#n = #t.shape<4>\n\"x.f\"() {a = !t.list<!e, note = #n>, b = !t.list<f32, note = #t.shape<4>>} : () -> ()";
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    let m = parse_module(&ctx, "x", text.to_owned(), options).unwrap();
    let op = m.first_op(m.body()).unwrap();
    assert_eq!(m.attr(op, ctx.str("a")), m.attr(op, ctx.str("b")));
    let printed = m.to_text(PrintOptions::default());
    let other = parse_module(&ctx, "y", printed.clone(), options).unwrap();
    assert_eq!(other.to_text(PrintOptions::default()), printed);
}

#[test]
fn accessors_return_parameters() {
    let ctx = context();
    let ty = ctx.parse_type("!t.list<i8, sorted>").unwrap();
    let list = List::cast(&ctx, ty).unwrap();
    assert_eq!((ctx.as_type(list.elem(&ctx)), ctx.as_int(list.max(&ctx))), (Some(Type::I8), Some(8)));
    assert_eq!((list.sorted(&ctx), list.note(&ctx)), (Some(Attr::UNIT), None));
    assert!(Matrix::cast(&ctx, ty).is_none() && Matrix::cast(&ctx, Type::I8).is_none());
    assert!((List::TYPE.check)(&ctx, ty) && !(Nothing::TYPE.check)(&ctx, ty));
    let wide = ctx.parse_attr("#t.wide<7> : i64").unwrap();
    assert_eq!(ctx.attr_datum(wide), Some(Datum::own(Number(7))));
    assert_ne!(ctx.attr_datum(wide), Some(Datum::Int(7)));
    let error = List::get(&ctx, Attr::UNIT, ctx.int_attr(Type::I64, 8), None, None).unwrap_err();
    assert_eq!(error.message, "parameter 'elem' failed to satisfy constraint: a type");
    let _ = Wide::wrap(wide).value(&ctx);
}

#[test]
fn damaged_text_is_an_error() {
    let ctx = context();
    let whole = "!t.list<!t.matrix<2 by 3 of f32 in columns>, max = 3, sorted, note = #t.shape<1, inner = <2>>>";
    for end in 0..whole.len() {
        let _ = again(&ctx, &whole[..end]);
        let _ = again(&ctx, &format!("{}{}", &whole[..end], &whole[end + 1..]));
        let _ = again(&ctx, &format!("{}>{}", &whole[..end], &whole[end..]));
    }
    for depth in [10, 100, 1000, 100_000] {
        let text = format!("{}i1{}", "!t.list<".repeat(depth), ">".repeat(depth));
        assert_eq!(again(&ctx, &text).is_ok(), depth == 10);
    }
}
