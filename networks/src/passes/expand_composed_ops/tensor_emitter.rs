//! An emitter of the tensor ops of which others are composed.

use crate::graph::{
    AbsOp, AddOp, CastOp, ConcatOp, DivOp, EqualOp, ExpOp, GatherOp, LogOp, MatMulOp, MulOp, NotOp, PowOp, ReshapeOp,
    SliceOp, SqrtOp, SqueezeOp, SubOp, TransposeOp, UnsqueezeOp, WhereOp,
};
use gradus_dialects::tensor;
use gradus_ir::eval::floats_to_tensor;
use gradus_ir::{
    Attr, Builder, Context, DType, DYNAMIC, Loc, Module, Op, OpDecl, OpInfo, OpState, Refusal, Tensor, Type, Value,
};
use std::sync::Arc;

/// Emits tensor ops in sequence. The first op whose types cannot be inferred stops it: from then on it emits nothing and returns
/// operands instead of results, until [`TensorEmitter::status`] is asked.
pub(in crate::passes) struct TensorEmitter<'m> {
    /// The insertion point.
    b: Builder<'m>,
    /// The location of all ops.
    loc: Loc,
    /// The element type of numbers that are constant.
    pub(in crate::passes) elem: Type,
    has_failed: bool,
}

macro_rules! emit {
    ($($(#[$doc:meta])* $name:ident($first:ident $(, $more:ident)*) $Op:ident;)*) => { $(
        $(#[$doc])*
        pub(in crate::passes) fn $name(&mut self, $first: Value $(, $more: Value)*) -> Value {
            self.op($Op::INFO, $first, &[$(Some($more)),*], &[])
        }
    )* };
}

impl<'m> TensorEmitter<'m> {
    /// Creates an emitter that inserts ops where `b` does.
    fn new(b: Builder<'m>, loc: Loc) -> TensorEmitter<'m> {
        TensorEmitter { b, loc, elem: Type::F32, has_failed: false }
    }

    /// Returns the module.
    pub(in crate::passes) fn module(&self) -> &Module {
        self.b.module
    }

    /// Returns the context.
    pub(in crate::passes) fn ctx(&self) -> Arc<Context> {
        self.b.module.ctx.clone()
    }

    /// Returns the extents of a ranked tensor.
    pub(in crate::passes) fn shape(&self, value: Value) -> Option<&[i64]> {
        self.module().ctx.shape(self.module().value_type(value))
    }

    /// Returns the element type of a tensor.
    pub(in crate::passes) fn elem_of(&self, value: Value) -> Type {
        self.module().ctx.element_type(self.module().value_type(value))
    }

    /// Refuses if the types of an op could not be inferred.
    pub(in crate::passes) fn status(&self) -> Result<(), Refusal> {
        if self.has_failed { Err("a replacement whose types do not fit each other".into()) } else { Ok(()) }
    }

    /// Emits an op of one result whose operand groups have at most one value each: `first`, then those of `more`.
    pub(in crate::passes) fn op(
        &mut self,
        info: &OpInfo,
        first: Value,
        more: &[Option<Value>],
        attrs: &[(&str, Option<Attr>)],
    ) -> Value {
        let mut state = self.state(info, attrs);
        state.operand_group(&[first]);
        for operand in more {
            state.operand_group(operand.as_slice());
        }
        self.create(state, first)
    }

    /// Emits an op of one result and one group of operands.
    pub(in crate::passes) fn variadic(
        &mut self,
        info: &OpInfo,
        first: Value,
        more: &[Value],
        attrs: &[(&str, Option<Attr>)],
    ) -> Value {
        let mut state = self.state(info, attrs);
        state.operand_group(&[&[first], more].concat());
        self.create(state, first)
    }

    fn state(&self, info: &OpInfo, attrs: &[(&str, Option<Attr>)]) -> OpState {
        let ctx = &self.module().ctx;
        let mut state = OpState::new(ctx, info.name, self.loc);
        attrs.iter().for_each(|&(name, attr)| state.inherent(ctx, name, attr));
        state
    }

    fn create(&mut self, state: OpState, placeholder: Value) -> Value {
        let made = if self.has_failed { None } else { self.b.try_create(state).ok() };
        self.has_failed |= made.is_none();
        made.map_or(placeholder, |op| self.module().result(op, 0))
    }

    emit! {
        matmul(a, b) MatMulOp;
        add(a, b) AddOp;
        sub(a, b) SubOp;
        mul(a, b) MulOp;
        div(a, b) DivOp;
        pow(a, b) PowOp;
        equal(a, b) EqualOp;
        not(x) NotOp;
        abs(x) AbsOp;
        sqrt(x) SqrtOp;
        exp(x) ExpOp;
        log(x) LogOp;
        /// Emits the selection of `x` where `condition` holds, else of `y`.
        select(condition, x, y) WhereOp;
        /// Emits the rows of `x` at indices.
        rows(x, indices) GatherOp;
    }

    /// Emits a constant.
    pub(in crate::passes) fn constant(&mut self, tensor: &Tensor) -> Value {
        let ctx = self.ctx();
        let shape: Vec<i64> = tensor.shape().iter().map(|&n| n as i64).collect();
        let ty = ctx.tensor_type(&shape, ctx.dtype_type(tensor.dtype()));
        let made = self.b.constant(ctx.dense_attr(ty, tensor), ty, "graph", self.loc);
        made.expect("graph has constants of all tensors")
    }

    /// Emits a list of integers.
    pub(in crate::passes) fn list(&mut self, ints: &[i64]) -> Value {
        self.constant(&Tensor::from_vec(&[ints.len()], ints.to_vec()))
    }

    /// Emits a constant of numbers, rounded to the element type.
    pub(in crate::passes) fn numbers(&mut self, shape: &[usize], values: Vec<f64>) -> Value {
        let dtype = self.module().ctx.dtype(self.elem).unwrap_or(DType::F32);
        self.constant(&floats_to_tensor(dtype, shape, values))
    }

    /// Emits a tensor of equal numbers.
    pub(in crate::passes) fn filled(&mut self, shape: &[i64], value: f64) -> Value {
        let ctx = self.ctx();
        let ty = ctx.tensor_type(shape, self.elem);
        let one = floats_to_tensor(ctx.dtype(self.elem).unwrap_or(DType::F32), &[1], vec![value]);
        let made = self.b.constant(ctx.dense_attr(ty, &one), ty, "graph", self.loc);
        made.expect("graph has constants of all tensors")
    }

    /// Emits a scalar.
    pub(in crate::passes) fn number(&mut self, value: f64) -> Value {
        self.filled(&[], value)
    }

    /// Emits the slice of an axis from index `first` to `end`, exclusive.
    pub(in crate::passes) fn slice(&mut self, x: Value, axis: i64, first: i64, end: i64) -> Value {
        let bounds = [first, end, axis].map(|n| Some(self.list(&[n])));
        self.op(SliceOp::INFO, x, &[&bounds[..], &[None]].concat(), &[])
    }

    /// Emits the same of each `step`-th index.
    pub(in crate::passes) fn strided_slice(&mut self, x: Value, axis: i64, [first, end]: [i64; 2], step: i64) -> Value {
        let bounds = [first, end, axis, step].map(|n| Some(self.list(&[n])));
        self.op(SliceOp::INFO, x, &bounds, &[])
    }

    /// Emits a transposition.
    pub(in crate::passes) fn transpose(&mut self, x: Value, perm: &[i64]) -> Value {
        let perm = self.module().ctx.i64_array_attr(perm);
        self.op(TransposeOp::INFO, x, &[], &[("perm", Some(perm))])
    }

    /// Emits a concatenation along an axis. Panics without parts: a caller's bug.
    pub(in crate::passes) fn concat(&mut self, parts: &[Value], axis: i64) -> Value {
        let axis = self.module().ctx.int_attr(Type::I64, axis);
        self.variadic(ConcatOp::INFO, parts[0], &parts[1..], &[("axis", Some(axis))])
    }

    /// Emits a concatenation along a new axis.
    pub(in crate::passes) fn stack(&mut self, parts: &[Value], axis: i64) -> Value {
        let parts: Vec<Value> = parts.iter().map(|&part| self.unsqueeze(part, &[axis])).collect();
        if let [only] = parts[..] { only } else { self.concat(&parts, axis) }
    }

    /// Emits the removal of axes of extent 1.
    pub(in crate::passes) fn squeeze(&mut self, x: Value, axes: &[i64]) -> Value {
        let axes = self.list(axes);
        self.op(SqueezeOp::INFO, x, &[Some(axes)], &[])
    }

    /// Emits the insertion of axes of extent 1.
    pub(in crate::passes) fn unsqueeze(&mut self, x: Value, axes: &[i64]) -> Value {
        let axes = self.list(axes);
        self.op(UnsqueezeOp::INFO, x, &[Some(axes)], &[])
    }

    /// Emits a reshape whose first `kept` axes stay and whose others become `tail`, of which one extent may be open.
    ///
    /// # Errors
    /// The new extents cannot be told from the old ones.
    pub(in crate::passes) fn reshape(&mut self, x: Value, kept: usize, tail: &[i64]) -> Result<Value, Refusal> {
        let head = self.shape(x).and_then(|shape| shape.get(..kept)).ok_or("a tensor of unknown rank")?.to_vec();
        let dims = [&head, tail].concat();
        let num_open = |dims: &[i64]| dims.iter().filter(|&&d| d == DYNAMIC).count();
        if self.shape(x) == Some(&dims[..]) && num_open(tail) < 2 {
            return Ok(x);
        }
        let (list, has_zero) = if num_open(&dims) == 0 {
            let has_zero = dims.contains(&0);
            (dims, has_zero)
        } else {
            // Extents of kept axes are copied. That of another one follows from the number of elements, if no other is 0.
            let is_told = match num_open(tail) {
                0 => !tail.contains(&0),
                1 => num_open(&head) == 0 && !dims.contains(&0),
                _ => false,
            };
            if !is_told {
                return Err("several extents that are not known".into());
            }
            let open = tail.iter().map(|&d| if d == DYNAMIC { -1 } else { d });
            (std::iter::repeat_n(0, kept).chain(open).collect(), false)
        };
        let list = self.list(&list);
        let has_zero = has_zero.then(|| self.module().ctx.int_attr(Type::I64, 1));
        Ok(self.op(ReshapeOp::INFO, x, &[Some(list)], &[("allowzero", has_zero)]))
    }

    /// Emits a reduction along axes, which stay with extent 1; nothing without axes.
    pub(in crate::passes) fn reduce(&mut self, info: &OpInfo, x: Value, axes: &[usize]) -> Value {
        if axes.is_empty() {
            return x;
        }
        let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
        let axes = self.list(&axes);
        self.op(info, x, &[Some(axes)], &[])
    }

    /// Emits the conversion to an element type, unless the tensor has it.
    pub(in crate::passes) fn convert(&mut self, x: Value, elem: Type) -> Value {
        if self.elem_of(x) == elem {
            return x;
        }
        let to = self.module().ctx.type_attr(elem);
        self.op(CastOp::INFO, x, &[], &[("to", Some(to))])
    }

    /// Emits the cast to a type of the same element type with fewer static extents, unless the tensor has it.
    fn cast(&mut self, x: Value, ty: Type) -> Value {
        if self.module().value_type(x) == ty || self.has_failed {
            return x;
        }
        tensor::CastOp::build(&mut self.b, self.loc, x, &[ty]).dest(self.b.module)
    }
}

/// Replaces the results of `op` by the values that `expand` emits before it, cast to their types. The last ones need no value if they are unused.
///
/// # Errors
/// Those of `expand`, and results that it does not replace; the module is then as before.
pub(in crate::passes) fn replace_by(
    m: &mut Module,
    op: Op,
    expand: impl FnOnce(&mut TensorEmitter<'_>) -> Result<Vec<Value>, Refusal>,
) -> Result<(), Refusal> {
    let before = m.prev_op(op);
    let results: Vec<Value> = m.results(op).collect();
    let loc = m.loc(op);
    let mut e = TensorEmitter::new(Builder::before(m, op), loc);
    let made = expand(&mut e).and_then(|values| {
        if results.iter().skip(values.len()).any(|&rest| !e.module().is_unused(rest)) {
            return Err("a result without a replacement".into());
        }
        let pairs = results.iter().zip(values);
        let cast: Result<Vec<Value>, Refusal> = pairs.map(|(&old, new)| fitted(&mut e, new, old)).collect();
        e.status().and(cast)
    });
    match made {
        Ok(made) => {
            results.into_iter().zip(made).for_each(|(old, new)| m.replace_all_uses(old, new));
            m.erase_op(op);
            Ok(())
        }
        Err(refusal) => {
            while let Some(last) = m.prev_op(op).filter(|&last| Some(last) != before) {
                m.erase_op(last);
            }
            Err(refusal)
        }
    }
}

/// Emits the conversion of a value to the type of a result.
///
/// # Errors
/// Extents of the result that are not those of the value: for another extent the op is poison, but a cast undefined.
fn fitted(e: &mut TensorEmitter<'_>, new: Value, old: Value) -> Result<Value, Refusal> {
    let (m, ty) = (e.module(), e.module().value_type(old));
    let elem = m.ctx.element_type(ty);
    let is_known = |(&have, &want): (&i64, &i64)| have == want || want == DYNAMIC;
    let fits = match (e.shape(new), m.ctx.shape(ty)) {
        (Some(have), Some(want)) => have.len() == want.len() && have.iter().zip(want).all(is_known),
        _ => true,
    };
    if !fits {
        return Err("a result of other extents than its type".into());
    }
    let new = e.convert(new, elem);
    Ok(e.cast(new, ty))
}
