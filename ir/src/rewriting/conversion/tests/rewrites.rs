//! Tests of the rewriter's changes and of their rollback.

use super::*;
use crate::{Block, InsertPoint, ValueMap};

/// Makes every kind of change that a rewriter offers, at an op `i.all` with a region of two blocks.
fn change_everything(r: &mut ConversionRewriter<'_>, op: Op, operands: &Operands) -> Match {
    let m = r.module();
    let ctx = m.ctx.clone();
    let (before, region) = (m.prev_op(op).ok_or("it comes first")?, m.regions(op)[0]);
    let (a, b) = (m.only_block(region), m.region_blocks(region).next_back().ok_or("it has no block")?);
    let state = |name: &str| OpState::new(&ctx, name, crate::Loc::UNKNOWN);
    // Ops at all insertion points.
    r.create(InsertPoint::After(op), state("l.after"))?;
    r.create(InsertPoint::Start(b), state("l.start"))?;
    r.create(InsertPoint::End(b), state("l.end"))?;
    r.build(InsertPoint::Before(op), |builder| {
        builder.create(state("l.built"));
        builder.create(state("l.built"));
    });
    r.clone_op(op, &mut ValueMap::default(), InsertPoint::Before(op));
    // Operands in place.
    let other = r.module().operands(op)[1];
    r.replace_uses_except(operands.one(0)?, other, before);
    r.modify(op, |m| {
        m.set_attr(op, "changed", Some(ctx.string_attr("yes")));
        m.set_operands(op, &[other]);
    });
    // Blocks.
    let fresh = r.create_block(region, Some(b), &[(Type::I64, crate::Loc::UNKNOWN)]);
    r.create(InsertPoint::End(fresh), state("l.fresh"))?;
    let mut signature = SignatureConversion::default();
    signature.push(&[Type::F32, Type::I1]);
    r.convert_block(b, &signature);
    let added = r.add_block_arg(b, Type::I64, crate::Loc::UNKNOWN);
    let user = r.create(InsertPoint::End(b), state("l.user"))?;
    r.modify(user, |m| m.set_operands(user, &[added]));
    let end = r.module().last_op(a).ok_or("the first block is empty")?;
    r.erase(end);
    let middle = r.module().block_ops(a).nth(2).ok_or("the first block is short")?;
    let tail = r.split_block(middle);
    r.move_op(middle, InsertPoint::Before(op));
    r.merge_blocks(tail, a, &[]);
    let args: Vec<Value> = r.module().block_args(fresh).to_vec();
    let value = r.create(InsertPoint::Before(op), like_i64(&ctx))?;
    let value = r.module().result(value, 0);
    assert_eq!(args.len(), 1);
    r.inline_block_before(fresh, op, &[value]);
    let around = r.create_before(op, OpState { regions: 2, ..state("l.around") })?;
    let (to, copy) = (r.module().regions(around)[0], r.module().regions(around)[1]);
    r.clone_region(region, copy, &mut ValueMap::default());
    let copied = r.module().region_blocks(copy).next_back().ok_or("nothing was copied")?;
    r.erase_block(copied);
    r.inline_region(region, to, None);
    r.erase_block(b);
    r.erase(before);
    Ok(())
}

fn like_i64(ctx: &Context) -> OpState {
    let mut state = OpState::new(ctx, "l.i64", crate::Loc::UNKNOWN);
    state.result_types.push(Type::I64);
    state
}

const TEXT: &str = r#"
    %0:2 = "u.def"() : () -> (i32, i32)
    "u.before"(%0#0) : (i32) -> ()
    %1 = "i.all"(%0#0, %0#1) ({
      %2 = "l.a"(%0#0) : (i32) -> i32
      "l.b"(%2) : (i32) -> ()
      "l.c"() : () -> ()
      "l.br"()[^b] : () -> ()
    ^b(%x: i16):
      "l.d"(%x, %2) : (i16, i32) -> ()
      "l.e"(%x) ({
        "l.f"(%x) : (i16) -> ()
      }) : (i16) -> ()
    }) : (i32, i32) -> i32
    "u.use"(%1, %0#0) : (i32, i32) -> ()
"#;

#[test]
fn all_changes_are_made() {
    let mut target = target();
    target.dynamic_op("i.all", |m, op| match m.operands(op).len() {
        1 => Ok(()),
        n => Err(format!("it has {n} operands").into()),
    });
    let mut m = parse(&context(), TEXT);
    // The clone of the op is unmodified and is legalized in the same way, but without an op before it.
    let pattern = ConversionPattern::new("all", "i.all", change_everything);
    let once = ConversionPattern::new("shrink", "i.all", |r, op, operands| {
        let first = operands.one(0)?;
        r.modify(op, |m| m.set_operands(op, &[first]));
        Ok(())
    });
    assert_snapshot!(convert(ConversionMode::Partial, &mut m, &target, &[pattern, once]), @r#"
%0:2 = "u.def"() : () -> (i32, i32)
"l.built"() : () -> ()
"l.built"() : () -> ()
%1 = "i.all"(%0#1) ({
  %4 = "l.a"(%0#1) : (i32) -> i32
  "l.b"(%4) : (i32) -> ()
  "l.c"() : () -> ()
  "l.br"()[^bb1] : () -> ()
^bb1(%5: i16):  // pred: ^bb0
  "l.start"() : () -> ()
  "l.d"(%5, %4) : (i16, i32) -> ()
  "l.e"(%5) ({
    "l.f"(%5) : (i16) -> ()
  }) : (i16) -> ()
  "l.end"() : () -> ()
}) : (i32) -> i32
"l.c"() : () -> ()
%2 = "l.i64"() : () -> i64
"l.fresh"() : () -> ()
"l.around"() ({
  %4 = "l.a"(%0#1) : (i32) -> i32
  "l.b"(%4) : (i32) -> ()
}, {
  %4 = "l.a"(%0#1) : (i32) -> i32
  "l.b"(%4) : (i32) -> ()
}) : () -> ()
%3 = "i.all"(%0#1) ({
}) {changed = "yes"} : (i32) -> i32
"l.after"() : () -> ()
"u.use"(%3, %0#1) : (i32, i32) -> ()
"#);
}

#[test]
fn all_changes_are_undone() {
    let ctx = context();
    let mut m = parse(&ctx, TEXT);
    let before = (body(&m), m.num_ops());
    let fails_late = ConversionPattern::new("all", "i.all", |r, op, operands| {
        change_everything(r, op, operands)?;
        Err("it changed its mind".into())
    });
    let fails_later = ConversionPattern::new("all", "i.all", |r, op, operands| {
        change_everything(r, op, operands)?;
        let state = OpState::new(&r.module().ctx, "i.never", crate::Loc::UNKNOWN);
        r.create_before(op, state)?;
        Ok(())
    });
    let patterns = [fails_late, fails_later];
    let out = convert(ConversionMode::Partial, &mut m, &target(), &patterns);
    assert!(out.contains("refused: it changed its mind"), "{out}");
    assert!(out.contains("led to 'i."), "{out}");
    assert_eq!((body(&m), m.num_ops()), before);
    verify(&m).expect("is valid");
    // Freed keys are reused, each once.
    let (body_block, copies): (Block, Vec<Op>) = (m.body(), (0..50).map(|_| m.create_op(like_i64(&ctx))).collect());
    copies.iter().for_each(|&op| m.append_op(body_block, op));
    let mut keys: Vec<Op> = m.ops_under(m.root());
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), m.num_ops());
    verify(&m).expect("is valid");
}

#[test]
fn the_root_of_the_program_is_not_converted() {
    let mut target = target();
    target.illegal_dialect("builtin");
    assert_snapshot!(partially(r#""l.a"() : () -> ()"#, &target, &[]), @r#""l.a"() : () -> ()"#);
    let nested = r#""builtin.module"() ({ "builtin.module"() ({ ^a: }) : () -> () }) : () -> ()"#;
    assert!(fully(nested, &target, &[]).contains("failed to legalize operation 'builtin.module'"));
}

/// Lowers `i.if(%condition) ({...}, {...})` to branches, like `scf.if`.
fn lower_if() -> ConversionPattern<'static> {
    ConversionPattern::new("lower-if", "i.if", |r, op, operands| {
        let m = r.module();
        let (ctx, loc) = (m.ctx.clone(), m.loc(op));
        let (head, regions) = (m.parent_block(op).ok_or("it is in no block")?, m.regions(op).to_vec());
        let around = m.parent_region(head).ok_or("its block is in no region")?;
        let types: Vec<(Type, crate::Loc)> = m.results(op).map(|v| (m.value_type(v), loc)).collect();
        let branch = |name: &str, to: &[Block], operands: &[Value]| {
            let mut state = OpState::new(&ctx, name, loc);
            state.operands.extend_from_slice(operands);
            state.successors.extend_from_slice(to);
            state
        };
        let rest = r.split_block(op);
        let join = r.create_block(around, Some(rest), &types);
        r.create(InsertPoint::End(join), branch("l.br", &[rest], &[]))?;
        let mut targets = Vec::new();
        for region in regions {
            let m = r.module();
            let last = m.region_blocks(region).next_back().ok_or("a region is empty")?;
            let (entry, end) = (m.only_block(region), m.last_op(last).ok_or("a block is empty")?);
            let yielded: Vec<Value> = m.operands(end).to_vec();
            r.replace_with(end, branch("l.br", &[join], &yielded))?;
            r.inline_region_before(region, join);
            targets.push(entry);
        }
        r.create(InsertPoint::End(head), branch("l.cond_br", &targets, &[operands.one(0)?]))?;
        let values = r.module().block_args(join).to_vec();
        r.replace(op, &values);
        Ok(())
    })
}

#[test]
fn structured_control_flow_becomes_branches() {
    let text = r#"
        t.func @f(%c: i1, %a: i32) -> i32 {
          "u.before"() : () -> ()
          %0 = "i.if"(%c) ({
            "i.if"(%c) ({
              "i.yield"() : () -> ()
            }, {
              "u.inner"() : () -> ()
              "i.yield"() : () -> ()
            }) : (i1) -> ()
            "i.yield"(%a) : (i32) -> ()
          }, {
            %1 = "u.other"() : () -> i32
            "i.yield"(%1) : (i32) -> ()
          }) : (i1) -> i32
          %2 = "i.if"(%c) ({ "i.yield"(%0) : (i32) -> () }, { "i.yield"(%a) : (i32) -> () }) : (i1) -> i32
          "t.return"(%2) : (i32) -> ()
        }
    "#;
    assert_snapshot!(partially(text, &target(), &[lower_if()]), @r#"
t.func @f(%arg0: i1, %arg1: i32) -> i32 {
  "u.before"() : () -> ()
  "l.cond_br"(%arg0)[^bb1, ^bb6] : (i1) -> ()
^bb1:  // pred: ^bb0
  "l.cond_br"(%arg0)[^bb2, ^bb3] : (i1) -> ()
^bb2:  // pred: ^bb1
  "l.br"()[^bb4] : () -> ()
^bb3:  // pred: ^bb1
  "u.inner"() : () -> ()
  "l.br"()[^bb4] : () -> ()
^bb4:  // 2 preds: ^bb2, ^bb3
  "l.br"()[^bb5] : () -> ()
^bb5:  // pred: ^bb4
  "l.br"(%arg1)[^bb7] : (i32) -> ()
^bb6:  // pred: ^bb0
  %0 = "u.other"() : () -> i32
  "l.br"(%0)[^bb7] : (i32) -> ()
^bb7(%1: i32):  // 2 preds: ^bb5, ^bb6
  "l.br"()[^bb8] : () -> ()
^bb8:  // pred: ^bb7
  "l.cond_br"(%arg0)[^bb9, ^bb10] : (i1) -> ()
^bb9:  // pred: ^bb8
  "l.br"(%1)[^bb11] : (i32) -> ()
^bb10:  // pred: ^bb8
  "l.br"(%arg1)[^bb11] : (i32) -> ()
^bb11(%2: i32):  // 2 preds: ^bb9, ^bb10
  "l.br"()[^bb12] : () -> ()
^bb12:  // pred: ^bb11
  "t.return"(%2) : (i32) -> ()
}
"#);
    // The pattern fails midway: its changes are rolled back.
    let broken = text.replace(r#"{ "i.yield"(%a) : (i32) -> () })"#, "{ })");
    let mut m = parse(&context(), &broken);
    let out = convert(ConversionMode::Partial, &mut m, &target(), &[lower_if()]);
    assert!(out.contains("pattern 'lower-if' refused: a region is empty"), "{out}");
    assert_eq!(body(&m).matches(r#""i.if"(%arg0) ({"#).count(), 1);
}
