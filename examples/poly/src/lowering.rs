//! `convert-poly-to-memref`: polynomials become memory that holds their coefficients.

use crate::{AS_COEFFICIENTS, AddOp, ConstantOp, EvalOp, MulOp, Residue, Ring, SubOp};
use gradus::dialects::{arith, memref, scf};
use gradus::ir::conversion::{
    ConversionConfig, Converted, TypeConverter, apply_counted_conversion, convert_call_types, convert_function_types,
    convert_op_types, convert_return_types,
};
use gradus::ir::{OpState, Tensor};
use gradus::prelude::*;

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "convert-poly-to-memref",
    doc: "Convert polynomials to memory that holds their coefficients.

# Before / After

```mlir
%0 = poly.add %x, %y : !poly.ring<17, 4>   // becomes: %0 = memref.alloc() : memref<4xi64>
                                           //          scf.for %i = %c0 to %c4 step %c1 { ... }
```

# Does

Converts rings to `memref<nxi64>` and residues to `i64`, also in functions, calls and branches, and ops to loops over the coefficients.
Each result is memory of its own, which is never freed.

# Refuses

Other ops on polynomials, such as `ub.poison`, and ops in regions without side effects.

# Cost

Linear in the number of ops and in the coefficients of constants.",
    statistics: &[("num-converted", "Number of ops converted")],
    make: |_| Ok(Box::new(PolyToMemref)),
    ..PassInfo::DEFAULT
};

struct PolyToMemref;

/// Ops that forward values of any type.
const FORWARDING: [&str; 6] = ["arith.select", "cf.br", "cf.cond_br", "scf.for", "scf.if", "scf.yield"];

impl Pass for PolyToMemref {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let mut types = TypeConverter::identity(m.ctx.clone());
        types.add_representation(&AS_COEFFICIENTS);
        types.add(|types, ty| Residue::cast(&types.ctx, ty).map(|_| Converted::To(Type::I64)));
        let mut target = ConversionTarget::new("memref");
        target.illegal_dialect("poly");
        target.dynamic_unknown(|m, op| types.check_op(m, op));
        target.dynamic_op("func.func", |m, op| types.check_function(m, op));
        let binary = |name, lower: Lower| {
            ConversionPattern::new("lower-binary", name, move |r, op, x| lower_binary(r, op, x, lower))
        };
        let mut patterns = vec![
            binary(AddOp::INFO.name, add),
            binary(SubOp::INFO.name, sub),
            binary(MulOp::INFO.name, mul),
            ConversionPattern::new("lower-constant", ConstantOp::INFO.name, lower_constant),
            ConversionPattern::new("lower-eval", EvalOp::INFO.name, lower_eval),
        ];
        patterns = patterns.into_iter().map(|pattern| pattern.with_types(&types)).collect();
        patterns.extend([convert_function_types(&types), convert_call_types(&types), convert_return_types(&types)]);
        patterns.extend(FORWARDING.map(|name| convert_op_types(name, &types)));
        let config = ConversionConfig::PARTIAL;
        let report = apply_counted_conversion(m, op, &target, &patterns, config, cx.actions())?;
        cx.count("num-converted", report.converted);
        Ok(())
    }
}

/// Emits the code of a binary op: it writes the coefficients of the result.
type Lower = fn(&mut Emitter<'_, '_>, [Value; 2], Value);

fn lower_binary(r: &mut ConversionRewriter<'_>, op: Op, operands: &Operands, lower: Lower) -> Match {
    let (x, y) = (operands.one(0)?, operands.one(1)?);
    let ring = ring(r.module(), r.module().result(op, 0))?;
    emit(r, op, ring, |e| {
        let result = e.alloc();
        lower(e, [x, y], result);
        result
    })
}

fn lower_constant(r: &mut ConversionRewriter<'_>, op: Op, _: &Operands) -> Match {
    let m = r.module();
    let value = m.constant(m.result(op, 0)).and_then(|value| m.ctx.attr_datum(value)).ok_or("it has no value")?;
    let ty = m.value_type(m.result(op, 0));
    let tensor = (AS_COEFFICIENTS.encode)(&m.ctx, ty, &value).ok_or("it is no polynomial")?;
    let coefficients = tensor[0].tensor().ok().and_then(Tensor::to_i64).ok_or("it has no coefficients")?;
    let ring = ring(m, m.result(op, 0))?;
    emit(r, op, ring, |e| {
        let result = e.alloc();
        for (i, c) in coefficients.into_iter().enumerate() {
            let (c, i) = (e.number(c), e.index(i as i64));
            e.store(c, result, i);
        }
        result
    })
}

/// Lowers the value at a point to Horner's scheme, from the last coefficient on.
fn lower_eval(r: &mut ConversionRewriter<'_>, op: Op, operands: &Operands) -> Match {
    let (poly, point) = (operands.one(0)?, operands.one(1)?);
    let ring = ring(r.module(), r.module().operands(op)[0])?;
    emit(r, op, ring, |e| {
        let (zero, last, n) = (e.number(0), e.index(ring.1 - 1), e.index(ring.1));
        let start = e.index(0);
        e.each(start, n, &[zero], |e, i, sum| {
            let i = e.binary::<arith::SubIOp>(last, i);
            let (product, c) = (e.binary::<arith::MulIOp>(sum[0], point), e.load(poly, i));
            let next = e.binary::<arith::AddIOp>(product, c);
            vec![e.modulo(next)]
        })[0]
    })
}

fn add(e: &mut Emitter<'_, '_>, [x, y]: [Value; 2], result: Value) {
    e.each_coefficient(|e, i| {
        let (x, y) = (e.load(x, i), e.load(y, i));
        let sum = e.binary::<arith::AddIOp>(x, y);
        e.store_modulo(sum, result, i);
    });
}

fn sub(e: &mut Emitter<'_, '_>, [x, y]: [Value; 2], result: Value) {
    e.each_coefficient(|e, i| {
        let (x, y) = (e.load(x, i), e.load(y, i));
        let y = e.negated(y);
        let difference = e.binary::<arith::AddIOp>(x, y);
        e.store_modulo(difference, result, i);
    });
}

/// Products of coefficients beyond the degree are subtracted, since x^n is -1.
fn mul(e: &mut Emitter<'_, '_>, [x, y]: [Value; 2], result: Value) {
    let (zero, start, n) = (e.number(0), e.index(0), e.index(e.ring.1));
    e.each_coefficient(|e, i| e.store(zero, result, i));
    e.each_coefficient(|e, i| {
        let (x, rest) = (e.load(x, i), e.binary::<arith::SubIOp>(n, i));
        e.each(start, rest, &[], |e, j, _| {
            let (k, y) = (e.binary::<arith::AddIOp>(i, j), e.load(y, j));
            e.accumulate(x, y, false, (result, k))
        });
        e.each(rest, n, &[], |e, j, _| {
            let (k, y) = (e.binary::<arith::SubIOp>(j, rest), e.load(y, j));
            e.accumulate(x, y, true, (result, k))
        });
    });
}

/// The modulus and the number of coefficients of a ring.
type Size = (i64, i64);

fn ring(m: &Module, value: Value) -> Match<Size> {
    let ring = Ring::cast(&m.ctx, m.value_type(value)).ok_or("its type is not a ring")?;
    let (modulus, degree) = ring.size(&m.ctx);
    Ok((modulus.cast_signed(), degree as i64))
}

/// A builder of loops over coefficients.
struct Emitter<'a, 'b> {
    b: &'a mut Builder<'b>,
    loc: Loc,
    ring: Size,
}

/// Replaces an op by the value that `f` computes.
fn emit(r: &mut ConversionRewriter<'_>, op: Op, ring: Size, f: impl FnOnce(&mut Emitter<'_, '_>) -> Value) -> Match {
    let m = r.module();
    if m.parent_op(op).is_some_and(|around| memref::GenericAtomicRMWOp::cast(m, around).is_some()) {
        return Err("memory is written, which the op around it does not allow".into());
    }
    let loc = m.loc(op);
    let value = r.build(InsertPoint::Before(op), |b| f(&mut Emitter { b, loc, ring }));
    r.replace(op, &[value]);
    Ok(())
}

impl Emitter<'_, '_> {
    fn constant(&mut self, n: i64, ty: Type) -> Value {
        let attr = self.b.module.ctx.int_attr(ty, n);
        self.b.constant(attr, ty, "arith", self.loc).expect("arith has constants of integers")
    }

    fn index(&mut self, n: i64) -> Value {
        self.constant(n, Type::INDEX)
    }

    fn number(&mut self, n: i64) -> Value {
        self.constant(n, Type::I64)
    }

    /// Creates an arithmetic op of two operands.
    fn binary<O: OpDecl>(&mut self, x: Value, y: Value) -> Value {
        let mut state = OpState::new(&self.b.module.ctx, O::INFO.name, self.loc);
        state.operands.extend([x, y]);
        let op = self.b.create(state);
        self.b.module.result(op, 0)
    }

    fn modulo(&mut self, x: Value) -> Value {
        let modulus = self.number(self.ring.0);
        self.binary::<arith::RemUIOp>(x, modulus)
    }

    /// Returns the modulus minus a coefficient.
    fn negated(&mut self, x: Value) -> Value {
        let modulus = self.number(self.ring.0);
        self.binary::<arith::SubIOp>(modulus, x)
    }

    fn alloc(&mut self) -> Value {
        let ty = self.b.module.ctx.memref_type(&[self.ring.1], Type::I64, None, None);
        memref::AllocOp::build(self.b, self.loc, &[], &[], None, &[ty]).memref(self.b.module)
    }

    fn load(&mut self, from: Value, at: Value) -> Value {
        memref::LoadOp::build(self.b, self.loc, from, &[at], None, None, &[]).result(self.b.module)
    }

    fn store(&mut self, value: Value, to: Value, at: Value) {
        memref::StoreOp::build(self.b, self.loc, value, to, &[at], None, None, &[]);
    }

    fn store_modulo(&mut self, value: Value, to: Value, at: Value) {
        let value = self.modulo(value);
        self.store(value, to, at);
    }

    /// Adds a product to a coefficient, or subtracts it.
    fn accumulate(&mut self, x: Value, y: Value, subtracts: bool, (to, at): (Value, Value)) -> Vec<Value> {
        let product = self.binary::<arith::MulIOp>(x, y);
        let product = self.modulo(product);
        let term = if subtracts { self.negated(product) } else { product };
        let old = self.load(to, at);
        let sum = self.binary::<arith::AddIOp>(old, term);
        self.store_modulo(sum, to, at);
        Vec::new()
    }

    fn each_coefficient(&mut self, body: impl FnOnce(&mut Emitter<'_, '_>, Value)) {
        let (zero, n) = (self.index(0), self.index(self.ring.1));
        self.each(zero, n, &[], |e, i, _| {
            body(e, i);
            Vec::new()
        });
    }

    /// Creates a loop with carried values, whose next ones `body` returns.
    fn each(
        &mut self,
        from: Value,
        to: Value,
        inits: &[Value],
        body: impl FnOnce(&mut Emitter<'_, '_>, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let (one, loc, ring) = (self.index(1), self.loc, self.ring);
        let types: Vec<Type> = inits.iter().map(|&v| self.b.module.value_type(v)).collect();
        let created = scf::ForOp::build(self.b, loc, from, to, one, inits, None, &types);
        let block = self.b.module.add_block(created.region(self.b.module));
        let args = [&[Type::INDEX], &types[..]].concat();
        let args: Vec<Value> = args.into_iter().map(|ty| self.b.module.add_block_arg(block, ty, loc)).collect();
        let mut inner = Builder::at_end(self.b.module, block);
        let next = body(&mut Emitter { b: &mut inner, loc, ring }, args[0], &args[1..]);
        scf::YieldOp::build(&mut inner, loc, &next, &[]);
        self.b.module.results(created.0).collect()
    }
}
