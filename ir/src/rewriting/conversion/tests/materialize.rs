//! Tests of materializations and remaining casts.

use super::*;
use crate::{Builder, Loc};

const TEXT: &str = r#"
    %0 = "i.def"() : () -> i32
    "u.use"(%0) : (i32) -> ()
    %1 = "u.def"() : () -> i32
    "i.use"(%1) : (i32) -> ()
"#;

/// Converts `i32` to `i64` in dialect `i` only, so that casts remain in [`TEXT`].
fn with_casts(text: &str, change: impl Fn(&mut TypeConverter)) -> String {
    let ctx = context();
    let mut types = TypeConverter::identity(ctx.clone());
    types.add(|_, ty| (ty == Type::I32).then_some(Converted::To(Type::I64)));
    change(&mut types);
    let patterns = [
        convert_op_types("i.def", &types),
        convert_op_types("i.use", &types),
        convert_op_types("i.pass", &types),
        ConversionPattern::new("drop", "i.drop", |r, op, _| {
            r.erase(op);
            Ok(())
        }),
    ];
    let mut target = ConversionTarget::new("wide");
    target.dynamic_dialect("i", |m, op| types.check_op(m, op));
    target.illegal_op("i.drop");
    convert(ConversionMode::Partial, &mut parse(&ctx, text), &target, &patterns)
}

fn cast_with(b: &mut Builder<'_>, name: &str, inputs: &[Value], ty: Type, loc: Loc) -> Value {
    let mut state = OpState::new(&b.module.ctx, name, loc);
    state.operands.extend_from_slice(inputs);
    state.result_types.push(ty);
    let op = b.create(state);
    b.module.result(op, 0)
}

#[test]
fn casts_that_stay_are_errors() {
    assert_snapshot!(with_casts(TEXT, |_| ()), @r#"
t.mlir:2:10: error: failed to legalize unresolved materialization from ('i64') to ('i32') that remained live after conversion
    %0 = "i.def"() : () -> i32
         ^
t.mlir:3:5: note: see existing live user here: 'u.use'
    "u.use"(%0) : (i32) -> ()
    ^
t.mlir:5:5: error: failed to legalize unresolved materialization from ('i32') to ('i64') that remained live after conversion
    "i.use"(%1) : (i32) -> ()
    ^
t.mlir:5:5: note: see existing live user here: 'i.use'
"#);
}

#[test]
fn casts_remain_if_the_converter_keeps_them() {
    assert_snapshot!(with_casts(TEXT, |types| {
        types.keep_casts();
    }), @r#"
%0 = "i.def"() : () -> i64
%1 = "builtin.unrealized_conversion_cast"(%0) : (i64) -> i32
"u.use"(%1) : (i32) -> ()
%2 = "u.def"() : () -> i32
%3 = "builtin.unrealized_conversion_cast"(%2) : (i32) -> i64
"i.use"(%3) : (i64) -> ()
"#);
}

#[test]
fn materializations_make_casts_real() {
    let out = with_casts(TEXT, |types| {
        types.add_source_materialization(|b, ty, inputs, loc| Some(cast_with(b, "l.trunc", inputs, ty, loc)));
        types.add_target_materialization(|b, types, inputs, loc, _| {
            Some([cast_with(b, "l.ext", inputs, types[0], loc)].into_iter().collect())
        });
        // The materialization added last is tried first, and may decline.
        types.add_target_materialization(|_, _, _, _, original| {
            assert_eq!(original, Type::I32);
            None
        });
    });
    assert_snapshot!(out, @r#"
%0 = "i.def"() : () -> i64
%1 = "l.trunc"(%0) : (i64) -> i32
"u.use"(%1) : (i32) -> ()
%2 = "u.def"() : () -> i32
%3 = "l.ext"(%2) : (i32) -> i64
"i.use"(%3) : (i64) -> ()
"#);
}

#[test]
fn one_cast_serves_all_users_that_want_it() {
    let text = r#"
        %0 = "u.def"() : () -> i32
        "i.use"(%0) : (i32) -> ()
        "i.use"(%0, %0) : (i32, i32) -> ()
    "#;
    assert_snapshot!(with_casts(text, |types| {
        types.keep_casts();
    }), @r#"
%0 = "u.def"() : () -> i32
%1 = "builtin.unrealized_conversion_cast"(%0) : (i32) -> i64
"i.use"(%1) : (i64) -> ()
"i.use"(%1, %1) : (i64, i64) -> ()
"#);
}

#[test]
fn casts_that_cancel_out_vanish() {
    // The user is visited before the definition, which is in a graph region.
    let text = r#"
        "i.use"(%0) : (i32) -> ()
        %0 = "i.def"() : () -> i32
    "#;
    assert_snapshot!(with_casts(text, |_| ()), @r#"
"i.use"(%0) : (i64) -> ()
%0 = "i.def"() : () -> i64
"#);
}

#[test]
fn users_of_an_erased_op_must_be_erased_by_the_end() {
    let used = |user: &str| format!("%0 = \"i.drop\"() : () -> i1\n\"{user}\"(%0) : (i1) -> ()");
    assert_snapshot!(with_casts(&used("u.use"), |_| ()), @r#"
t.mlir:1:6: error: failed to legalize unresolved materialization from () to ('i1') that remained live after conversion
%0 = "i.drop"() : () -> i1
     ^
t.mlir:2:1: note: see existing live user here: 'u.use'
"u.use"(%0) : (i1) -> ()
^
"#);
    assert_snapshot!(with_casts(&used("i.drop"), |_| ()), @r#"^bb0:"#);
}

#[test]
fn chains_of_casts_lead_back() {
    let text = r#"
        %a = "u.def"() : () -> i64
        %0 = "builtin.unrealized_conversion_cast"(%a) : (i64) -> i32
        %1 = "builtin.unrealized_conversion_cast"(%0) : (i32) -> i16
        %2 = "builtin.unrealized_conversion_cast"(%1) : (i16) -> i32
        %3 = "builtin.unrealized_conversion_cast"(%2) : (i32) -> i64
        %4:2 = "builtin.unrealized_conversion_cast"(%a) : (i64) -> (f32, f32)
        %5 = "builtin.unrealized_conversion_cast"(%4#0, %4#1) : (f32, f32) -> i64
        %6 = "builtin.unrealized_conversion_cast"(%4#1, %4#0) : (f32, f32) -> i64
        %7:2 = "builtin.unrealized_conversion_cast"(%5) : (i64) -> (f32, f32)
        %8 = "builtin.unrealized_conversion_cast"(%9) : (f16) -> bf16
        %9 = "builtin.unrealized_conversion_cast"(%8) : (bf16) -> f16
        "u.use"(%6, %7#1, %5, %3, %2) : (i64, f32, i64, i64, i32) -> ()
    "#;
    let mut m = parse(&context(), text);
    let name = m.ctx.op_name(CAST);
    let casts: Vec<Op> = m.ops_under(m.root()).into_iter().filter(|&op| m.name(op) == name).collect();
    assert_eq!(reconcile_casts(&mut m, &casts).len(), 3);
    assert_snapshot!(body(&m), @r#"
%0 = "u.def"() : () -> i64
%1 = "builtin.unrealized_conversion_cast"(%0) : (i64) -> i32
%2:2 = "builtin.unrealized_conversion_cast"(%0) : (i64) -> (f32, f32)
%3 = "builtin.unrealized_conversion_cast"(%2#1, %2#0) : (f32, f32) -> i64
"u.use"(%3, %2#1, %0, %0, %1) : (i64, f32, i64, i64, i32) -> ()
"#);
}

#[test]
fn long_chains_of_casts_take_linear_time() {
    let n = 20_000;
    let cast =
        |i: usize| format!("%{} = \"{CAST}\"(%{i}) : (i{}) -> i{}\n", i + 1, i % 10_000 + 1, (i + 1) % 10_000 + 1);
    let text = "%0 = \"u.def\"() : () -> i1\n".to_owned() + &(0..n).map(cast).collect::<String>();
    let mut m = parse(&context(), &(text + &format!("\"u.use\"(%{n}) : (i1) -> ()")));
    let casts: Vec<Op> = m.block_ops(m.body()).skip(1).take(n).collect();
    assert!(reconcile_casts(&mut m, &casts).is_empty());
    assert_eq!(m.num_ops(), 3);
}
