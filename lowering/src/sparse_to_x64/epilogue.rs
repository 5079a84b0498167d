//! Ops on sums before they are stored, and the ops of a program that they replace.

use gradus_ir::{DType, Module, Op, OpDecl, Value};
use gradus_networks::graph::{AddOp, ClipOp, ReluOp, SumOp};

/// The ops on sums before they are stored.
#[derive(Default)]
pub(super) struct Epilogue {
    /// Bias of each row.
    pub bias: Option<Vec<f64>>,
    /// Whether a residual is added.
    pub has_residual: bool,
    /// Bounds of the clamp.
    pub low: Option<f32>,
    pub high: Option<f32>,
}

impl Epilogue {
    /// The bias with which the sum of a row begins, if it is not 0.
    pub fn bias_of(&self, row: usize) -> Option<f64> {
        self.bias.as_ref().map(|bias| bias[row]).filter(|&bias| bias != 0.0)
    }
}

/// A product and the ops after it that are computed with it, each of which uses the result of the one before alone.
pub(super) struct Chain(Vec<Op>);

impl Chain {
    pub fn of(op: Op) -> Chain {
        Chain(vec![op])
    }

    /// The op whose result is computed.
    pub fn last(&self) -> Op {
        self.0[self.0.len() - 1]
    }

    /// Takes the constant that the next op adds to each row of a product: `[.., rows]` with a sparse right operand, `[rows, 1]` with a left one.
    pub fn take_bias(&mut self, m: &Module, rows: usize, is_right: bool) -> Option<Vec<f64>> {
        let (user, addend) = self.addend(m)?;
        let tensor = m.ctx.dense_tensor(m.constant(addend)?)?;
        let is_of_rows = match *tensor.shape() {
            [n] | [1, n] if is_right => n == rows,
            [n, 1] if !is_right => n == rows,
            _ => false,
        };
        is_of_rows.then(|| {
            self.0.push(user);
            tensor.to_f64()
        })
    }

    /// Takes the tensor of the type of the result that the next op adds.
    pub fn take_residual(&mut self, m: &Module) -> Option<Value> {
        let (user, addend) = self.addend(m)?;
        let [addend_type, result_type] = [addend, m.result(user, 0)].map(|v| m.value_type(v));
        (addend_type == result_type).then(|| {
            self.0.push(user);
            addend
        })
    }

    /// Takes the bounds of the clamp of f32 that is the next op.
    pub fn take_bounds(&mut self, m: &Module) -> [Option<f32>; 2] {
        let user = self.user(m);
        let Some((user, bounds)) = user.and_then(|user| Some((user, bounds(m, user)?))) else { return [None; 2] };
        self.0.push(user);
        bounds
    }

    /// Replaces the result of the last op and erases all.
    pub fn replace(self, m: &mut Module, by: Value) {
        m.replace_all_uses(m.result(self.last(), 0), by);
        self.0.into_iter().rev().for_each(|op| m.erase_op(op));
    }

    /// The only user of the result of the last op, in its block.
    fn user(&self, m: &Module) -> Option<Op> {
        let (op, value) = (self.last(), m.result(self.last(), 0));
        let (user, _) = m.uses(value).next().filter(|_| m.has_one_use(value))?;
        (m.parent_block(user) == m.parent_block(op)).then_some(user)
    }

    /// The next op and its other operand, if it adds that to the result without changing its type.
    fn addend(&self, m: &Module) -> Option<(Op, Value)> {
        let (user, value) = (self.user(m)?, m.result(self.last(), 0));
        (AddOp::cast(m, user).is_some() || SumOp::cast(m, user).is_some()).then_some(())?;
        let &[a, b] = m.operands(user) else { return None };
        (m.value_type(m.result(user, 0)) == m.value_type(value)).then_some((user, if a == value { b } else { a }))
    }
}

/// The bounds of a clamp of f32.
fn bounds(m: &Module, user: Op) -> Option<[Option<f32>; 2]> {
    let [low, high] = match ClipOp::cast(m, user) {
        Some(clip) => clip.constant_bounds(m)?.map(|bound| bound.map(|bound| bound as f32)),
        None => ReluOp::cast(m, user).map(|_| [Some(0.0), None])?,
    };
    // Code clamps f32 only.
    (m.ctx.dtype(m.ctx.element_type(m.value_type(m.result(user, 0)))) == Some(DType::F32)).then_some(())?;
    let is_known = [low, high].into_iter().flatten().all(|bound| !bound.is_nan());
    (is_known && low.zip(high).is_none_or(|(low, high)| low <= high)).then_some([low, high])
}
