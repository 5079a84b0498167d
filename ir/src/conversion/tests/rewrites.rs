//! The changes that patterns can make: that they are made, and that they are undone.

use super::*;
use crate::{Block, InsertPoint, ValueMap};

/// A change of everything that a rewriter can change, at an op `i.all` with a region of two blocks.
fn change_everything(r: &mut ConversionRewriter<'_>, op: Op, operands: &Operands) -> Match {
    let m = r.module();
    let ctx = m.ctx.clone();
    let (before, region) = (m.prev_op(op).ok_or("it comes first")?, m.regions(op)[0]);
    let (a, b) = (m.only_block(region), m.region_blocks(region).next_back().ok_or("it has no block")?);
    let state = |name: &str| OpState::new(&ctx, name, crate::Loc::UNKNOWN);
    // Ops at all places.
    r.create(InsertPoint::After(op), state("l.after"))?;
    r.create(InsertPoint::Start(b), state("l.start"))?;
    r.create(InsertPoint::End(b), state("l.end"))?;
    r.build(InsertPoint::Before(op), |builder| {
        builder.create(state("l.built"));
        builder.create(state("l.built"));
    });
    r.clone_op(op, &mut ValueMap::default(), InsertPoint::Before(op));
    // Values, in place.
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
    let around = r.create_before(op, OpState { regions: 1, ..state("l.around") })?;
    let to = r.module().regions(around)[0];
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
    // The copy of the op is made as it was, and legalized like it, but without an op before it.
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
    // Keys that were freed are handed out again, and to one each.
    let (body_block, copies): (Block, Vec<Op>) = (m.body(), (0..50).map(|_| m.create_op(like_i64(&ctx))).collect());
    copies.iter().for_each(|&op| m.append_op(body_block, op));
    let mut keys: Vec<Op> = m.ops_under(m.root());
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), m.num_ops());
    verify(&m).expect("is valid");
}

#[test]
fn the_root_of_the_program_stays() {
    let mut target = target();
    target.illegal_dialect("builtin");
    assert_snapshot!(partially(r#""l.a"() : () -> ()"#, &target, &[]), @r#""l.a"() : () -> ()"#);
    let nested = r#""builtin.module"() ({ "builtin.module"() ({ ^a: }) : () -> () }) : () -> ()"#;
    assert!(fully(nested, &target, &[]).contains("failed to legalize operation 'builtin.module'"));
}
