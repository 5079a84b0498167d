//! `convert-bits-to-arith`.

use crate::dialect::ExtractOp;
use gradus::dialects::{arith, math};
use gradus::prelude::*;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "convert-bits-to-arith",
    doc: "Convert the bits dialect to arith and math.

# Before / After

```mlir
%0 = bits.extract %x from 8 : i32 to i8   // becomes: %c8_i32 = arith.constant 8 : i32
                                          //          %0 = arith.shrui %x, %c8_i32 : i32
                                          //          %1 = arith.trunci %0 : i32 to i8
```

# Does

Replaces rotations by two shifts, fields by a shift and a truncation, and counts by `math.ctpop`.

# Refuses

Tensors of dynamic shape: the width would have to be a constant of that type.

# Cost

Linear in the number of ops.",
    statistics: &[("num-converted", "Number of ops converted")],
    make: |_| Ok(Box::new(BitsToArith)),
    ..PassInfo::DEFAULT
};

struct BitsToArith;

impl Pass for BitsToArith {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let mut target = ConversionTarget::new("arith");
        target.legal_dialect("arith");
        target.legal_dialect("math");
        target.illegal_dialect("bits").because("the target machine has no bit operations");
        let patterns = [
            ConversionPattern::new("lower-rotl", "bits.rotl", |r, op, operands| lower_rotation(r, op, operands, true)),
            ConversionPattern::new("lower-rotr", "bits.rotr", |r, op, operands| lower_rotation(r, op, operands, false)),
            ConversionPattern::new("lower-popcount", "bits.popcount", lower_popcount),
            ConversionPattern::new("lower-extract", "bits.extract", lower_extract),
        ];
        let report = apply_partial_conversion(m, op, &target, &patterns)?;
        cx.count("num-converted", report.converted);
        Ok(())
    }
}

/// Returns `number` as a constant attribute of the type of `value`.
fn like(m: &Module, value: Value, number: i64) -> Match<Attr> {
    let attr = m.ctx.uniform_attr(m.value_type(value), number as f64);
    Ok(attr.ok_or("a type with dynamic extents has no constants")?)
}

fn constant(b: &mut Builder<'_>, op: Op, attr: Attr) -> Value {
    let ty = b.module.ctx.attr_type(attr).expect("numbers have types");
    b.constant(attr, ty, "arith", b.module.loc(op)).expect("arith has constants of numbers")
}

/// Lowers a rotation to `x << n % w | x >> (w - n % w) % w`, with both shifts reversed for a right rotation.
fn lower_rotation(r: &mut ConversionRewriter<'_>, op: Op, operands: &Operands, left: bool) -> Match {
    let (x, n) = (operands.one(0)?, operands.one(1)?);
    let (m, loc) = (r.module(), r.module().loc(op));
    let bits = m.ctx.int_width(m.ctx.element_type(m.value_type(x))).ok_or("integers are expected")?;
    let width = like(m, x, bits.into())?;
    let wraps = m.ctx.default_attr("#arith.overflow<none>");
    let rotated = r.build(InsertPoint::Before(op), |b| {
        let width = constant(b, op, width);
        let there = arith::RemUIOp::build(b, loc, n, width, &[]).result(b.module);
        let rest = arith::SubIOp::build(b, loc, width, there, wraps, &[]).result(b.module);
        let back = arith::RemUIOp::build(b, loc, rest, width, &[]).result(b.module);
        let (up, down) = if left { (there, back) } else { (back, there) };
        let high = arith::ShLIOp::build(b, loc, x, up, wraps, &[]).result(b.module);
        let low = arith::ShRUIOp::build(b, loc, x, down, None, &[]).result(b.module);
        arith::OrIOp::build(b, loc, high, low, &[]).result(b.module)
    });
    r.replace(op, &[rotated]);
    Ok(())
}

fn lower_popcount(r: &mut ConversionRewriter<'_>, op: Op, operands: &Operands) -> Match {
    let (x, loc) = (operands.one(0)?, r.module().loc(op));
    let count = r.build(InsertPoint::Before(op), |b| math::CtPopOp::build(b, loc, x, &[]).result(b.module));
    r.replace(op, &[count]);
    Ok(())
}

fn lower_extract(r: &mut ConversionRewriter<'_>, op: Op, operands: &Operands) -> Match {
    let (x, extract) = (operands.one(0)?, ExtractOp(op));
    let (m, loc) = (r.module(), r.module().loc(op));
    let ty = m.value_type(extract.result(m));
    let narrower = ty != m.value_type(x);
    let offset = extract.offset(m).and_then(|a| m.ctx.as_int(a)).ok_or("an offset is expected")?;
    let (offset, wraps) = (like(m, x, offset)?, m.ctx.default_attr("#arith.overflow<none>"));
    let field = r.build(InsertPoint::Before(op), |b| {
        let offset = constant(b, op, offset);
        let wide = arith::ShRUIOp::build(b, loc, x, offset, None, &[]).result(b.module);
        if narrower { arith::TruncIOp::build(b, loc, wide, wraps, &[ty]).out(b.module) } else { wide }
    });
    r.replace(op, &[field]);
    Ok(())
}
