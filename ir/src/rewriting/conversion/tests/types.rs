//! Tests of type conversion: operands, results, block arguments and functions; 1:1, 1:N and 1:0.

use super::*;

/// Returns a converter of `i32` to `i64`, `f64` to two `f32`, and `none` to no type; `index` cannot be converted, and
/// other types are kept.
fn converter(ctx: &Arc<Context>) -> TypeConverter {
    let mut types = TypeConverter::identity(ctx.clone());
    types.add(|_, ty| match ty {
        Type::I32 => Some(Converted::To(Type::I64)),
        Type::F64 => Some(Converted::Many([Type::F32, Type::F32].into_iter().collect())),
        Type::NONE => Some(Converted::dropped()),
        Type::INDEX => Some(Converted::Never),
        _ => None,
    });
    types
}

/// Returns a pattern that converts an op of dialect `i` to dialect `l`, with its types.
fn lower<'a>(
    name: &'static str,
    from: &'static str,
    to: &'static str,
    types: &'a TypeConverter,
) -> ConversionPattern<'a> {
    let run = move |r: &mut ConversionRewriter<'_>, op: Op, operands: &Operands| {
        let m = r.module();
        let mut state = OpState::new(&m.ctx, to, m.loc(op));
        state.operands.extend_from_slice(operands.all());
        let converted: Vec<TypeList> =
            m.results(op).map(|v| types.convert_all([m.value_type(v)])).collect::<Match<_>>()?;
        state.result_types.extend(converted.iter().flatten().copied());
        let new = r.create_before(op, state)?;
        let mut results: Vec<Value> = r.module().results(new).collect();
        let values: Vec<_> = converted.iter().map(|list| results.drain(..list.len()).collect()).collect();
        r.replace_with_many(op, &values);
        Ok(())
    };
    ConversionPattern::new(name, from, run).with_types(types)
}

/// Converts with all patterns of this file.
fn lowered(text: &str, change: impl Fn(&mut TypeConverter)) -> String {
    let ctx = context();
    let mut types = converter(&ctx);
    change(&mut types);
    let patterns = [
        lower("def", "i.def", "l.def", &types),
        lower("use", "i.use", "l.use", &types),
        convert_function_types(&types),
        convert_return_types(&types),
        convert_call_types(&types),
        convert_op_types("t.cond_br", &types),
        convert_op_types("u.loop", &types),
        convert_op_types("u.br", &types),
    ];
    let mut target = target();
    target.dynamic_dialect("t", |m, op| types.check_op(m, op));
    target.dynamic_op("t.func", |m, op| types.check_function(m, op));
    target.dynamic_op("u.loop", |m, op| {
        m.regions(op).iter().try_for_each(|&region| types.check_region(m, region)).and_then(|()| types.check_op(m, op))
    });
    target.dynamic_op("u.br", |m, op| types.check_op(m, op));
    convert(ConversionMode::Partial, &mut parse(&ctx, text), &target, &patterns)
}

#[test]
fn values_of_converted_types_flow_from_op_to_op() {
    let text = r#"
        %0 = "i.def"() : () -> i32
        %1 = "i.use"(%0, %0) : (i32, i32) -> i32
        "i.use"(%1) : (i32) -> ()
    "#;
    assert_snapshot!(lowered(text, |_| ()), @r#"
%0 = "l.def"() : () -> i64
%1 = "l.use"(%0, %0) : (i64, i64) -> i64
"l.use"(%1) : (i64) -> ()
"#);
}

#[test]
fn functions_calls_and_returns_change_their_types() {
    let text = r#"
        t.func @f(%a: i32 {u.a}, %b: f64 {u.b}, %c: i1 {u.c}, %d: none {u.d}) -> (i32, i1) {
          %0 = "i.use"(%a, %b) : (i32, f64) -> i32
          "t.return"(%0, %c) : (i32, i1) -> ()
        }
        t.func @g(%a: i32, %b: f64, %c: i1, %d: none) -> i32 {
          %0:2 = "t.call"(%a, %b, %c, %d) <{callee = @f}> : (i32, f64, i1, none) -> (i32, i1)
          "t.return"(%0#0) : (i32) -> ()
        }
    "#;
    assert_snapshot!(lowered(text, |_| ()), @r#"
t.func @f(%arg0: i64 {u.a}, %arg1: f32, %arg2: f32, %arg3: i1 {u.c}) -> (i64, i1) {
  %0 = "l.use"(%arg0, %arg1, %arg2) : (i64, f32, f32) -> i64
  "t.return"(%0, %arg3) : (i64, i1) -> ()
}
t.func @g(%arg0: i64, %arg1: f32, %arg2: f32, %arg3: i1) -> i64 {
  %0:2 = "t.call"(%arg0, %arg1, %arg2, %arg3) <{callee = @f}> : (i64, f32, f32, i1) -> (i64, i1)
  "t.return"(%0#0) : (i64) -> ()
}
"#);
}

#[test]
fn block_arguments_change_their_types() {
    let text = r#"
        t.func @f(%a: i32, %b: f64) {
          "t.cond_br"(%a, %b, %a)[^b, ^c] <{operandSegmentSizes = array<i32: 2, 1>}> : (i32, f64, i32) -> ()
        ^b(%x: i32, %y: f64):
          "i.use"(%x, %y) : (i32, f64) -> ()
          "u.br"(%x)[^c] : (i32) -> ()
        ^c(%z: i32):
          "i.use"(%z) : (i32) -> ()
          "t.return"() : () -> ()
        }
    "#;
    assert_snapshot!(lowered(text, |_| ()), @r#"
t.func @f(%arg0: i64, %arg1: f32, %arg2: f32) {
  "t.cond_br"(%arg0, %arg1, %arg2, %arg0)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 3, 1>}> : (i64, f32, f32, i64) -> ()
^bb1(%0: i64, %1: f32, %2: f32):  // pred: ^bb0
  "l.use"(%0, %1, %2) : (i64, f32, f32) -> ()
  "u.br"(%0)[^bb2] : (i64) -> ()
^bb2(%3: i64):  // 2 preds: ^bb0, ^bb1
  "l.use"(%3) : (i64) -> ()
  "t.return"() : () -> ()
}
"#);
}

#[test]
fn regions_move_into_the_op_with_the_new_types() {
    let text = r#"
        %0 = "i.def"() : () -> i32
        %1 = "u.loop"(%0) ({
        ^a(%x: i32, %y: i1):
          %2 = "u.loop"(%x) ({
          ^b(%z: i32):
            "i.use"(%x, %y, %z) : (i32, i1, i32) -> ()
          }) : (i32) -> i32
        }) {keep} : (i32) -> i32
        "i.use"(%1) : (i32) -> ()
    "#;
    assert_snapshot!(lowered(text, |_| ()), @r#"
%0 = "l.def"() : () -> i64
%1 = "u.loop"(%0) ({
^bb0(%arg0: i64, %arg1: i1):
  %2 = "u.loop"(%arg0) ({
  ^bb0(%arg2: i64):
    "l.use"(%arg0, %arg1, %arg2) : (i64, i1, i64) -> ()
  }) : (i64) -> i64
}) {keep} : (i64) -> i64
"l.use"(%1) : (i64) -> ()
"#);
}

#[test]
fn a_value_becomes_many_or_none() {
    let text = r#"
        %0:3 = "i.def"() : () -> (f64, none, f64)
        %1 = "i.use"(%0#2, %0#1, %0#0) : (f64, none, f64) -> f64
        "i.use"(%1) : (f64) -> ()
    "#;
    assert_snapshot!(lowered(text, |_| ()), @r#"
%0:4 = "l.def"() : () -> (f32, f32, f32, f32)
%1:2 = "l.use"(%0#2, %0#3, %0#0, %0#1) : (f32, f32, f32, f32) -> (f32, f32)
"l.use"(%1#0, %1#1) : (f32, f32) -> ()
"#);
}

#[test]
fn operands_that_cannot_be_converted_are_a_reason() {
    let text = r#"
        %0 = "u.def"() : () -> index
        "i.use"(%0) : (index) -> ()
    "#;
    assert_snapshot!(lowered(text, |_| ()), @r#"
t.mlir:3:9: error: failed to legalize operation 'i.use' that was explicitly marked illegal
        "i.use"(%0) : (index) -> ()
        ^
t.mlir:3:9: note: target 'l' forbids dialect 'i': it is not for machines
t.mlir:3:9: note: pattern 'use' refused: unable to convert type for operand #0, type was 'index'
"#);
}

#[test]
fn a_legality_that_asks_for_types_says_which() {
    let ctx = context();
    let types = converter(&ctx);
    let mut target = ConversionTarget::new("wide");
    target.dynamic_dialect("t", |m, op| types.check_op(m, op)).because("registers are wide");
    target.dynamic_op("t.func", |m, op| types.check_function(m, op));
    let text = r#"
        t.func @f(%a: i1) -> i1 {
          "t.return"(%a) : (i1) -> ()
        }
        t.func @g(%a: i1) -> i32 {
          %0 = "u.def"() : () -> i32
          "t.return"(%0) : (i32) -> ()
        }
    "#;
    assert_snapshot!(convert(ConversionMode::Partial, &mut parse(&ctx, text), &target, &[]), @r#"
t.mlir:5:9: error: failed to legalize operation 't.func' that was explicitly marked illegal
        t.func @g(%a: i1) -> i32 {
        ^
t.mlir:5:9: note: target 'wide' allows op 't.func' conditionally; here, result #0 has type 'i32', which has to be converted
t.mlir:5:9: note: no pattern is for 't.func'
t.mlir:7:11: error: failed to legalize operation 't.return' that was explicitly marked illegal
          "t.return"(%0) : (i32) -> ()
          ^
t.mlir:7:11: note: target 'wide' allows dialect 't' conditionally: registers are wide; here, operand #0 has type 'i32', which has to be converted
t.mlir:7:11: note: no pattern is for 't.return'
"#);
}

#[test]
fn later_rules_come_first_and_may_ask_for_types_inside() {
    let ctx = context();
    let mut types = converter(&ctx);
    types.add(|types, ty| {
        let elem = Some(types.ctx.element_type(ty)).filter(|&elem| elem != ty)?;
        let to = types.convert_one(elem).ok()?;
        Some(Converted::To(types.ctx.with_element(ty, to)))
    });
    let tensor = |elem| ctx.tensor_type(&[4], elem);
    assert_eq!(types.convert_one(tensor(Type::I32)), Ok(tensor(Type::I64)));
    assert!(types.is_legal(tensor(Type::F64)) && !types.is_legal(Type::I32) && types.convert(Type::INDEX).is_none());
    assert_eq!(types.convert_one(Type::F64), Err("type 'f64' becomes 2 types".into()));
    types.add(|_, ty| (ty == Type::I32).then_some(Converted::Never));
    assert_eq!(types.convert_one(Type::I32), Err("unable to convert type 'i32'".into()));
    assert!(types.is_legal(tensor(Type::I32)));
}

#[test]
fn arguments_may_be_added_and_replaced() {
    let shift = ConversionPattern::new("shift", "i.box", |r, op, _| {
        let region = r.module().regions(op)[0];
        let block = r.module().only_block(region);
        let outside = r.module().result(r.module().prev_op(op).ok_or("it comes first")?, 0);
        let mut signature = SignatureConversion::default();
        signature.push_extra(&[Type::F32]);
        signature.push(&[Type::I1]);
        signature.push_values(&[outside]);
        r.convert_block(block, &signature);
        let mut state = like(r.module(), op, "l.box", &[]);
        state.regions = 1;
        let new = r.create_before(op, state)?;
        let to = r.module().regions(new)[0];
        r.inline_region(region, to, None);
        r.erase(op);
        Ok(())
    });
    let text = r#"
        %0 = "u.def"() : () -> i32
        "i.box"() ({
        ^a(%x: i1, %y: i32):
          "u.use"(%x, %y) : (i1, i32) -> ()
        }) : () -> ()
    "#;
    assert_snapshot!(partially(text, &target(), &[shift]), @r#"
%0 = "u.def"() : () -> i32
"l.box"() ({
^bb0(%arg0: f32, %arg1: i1):
  "u.use"(%arg1, %0) : (i1, i32) -> ()
}) : () -> ()
"#);
}
