//! Creating ops at an insertion point.

use crate::edit::OpState;
use crate::intern::{Attr, Str, Type};
use crate::module::{Block, Module, Op, Value};
use crate::op_info::OpArgs;
use crate::text::loc::Loc;
use crate::traits::Traits;
use crate::typing::{InferError, infer_results};

/// An insertion point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InsertPoint {
    /// Before an op.
    Before(Op),
    /// After an op.
    After(Op),
    /// At the start of a block.
    Start(Block),
    /// At the end of a block.
    End(Block),
}

impl InsertPoint {
    /// Returns the point directly after the definition of `value`.
    pub fn after_value(m: &Module, value: Value) -> InsertPoint {
        match m.def(value) {
            crate::Def::Result(op, _) => InsertPoint::After(op),
            crate::Def::Arg(block, _) => InsertPoint::Start(block),
        }
    }

    /// Returns the block, and the op before which new ops go.
    pub(crate) fn place(self, m: &Module) -> (Block, Option<Op>) {
        let block_of = |op| m.parent_block(op).expect("the op is in a block");
        match self {
            InsertPoint::Before(op) => (block_of(op), Some(op)),
            InsertPoint::After(op) => (block_of(op), m.next_op(op)),
            InsertPoint::Start(block) => (block, m.first_op(block)),
            InsertPoint::End(block) => (block, None),
        }
    }
}

/// A builder that creates ops in sequence at an insertion point.
pub struct Builder<'m> {
    /// The module.
    pub module: &'m mut Module,
    block: Block,
    before: Option<Op>,
    /// The created ops, if they are recorded.
    pub(crate) made: Option<Vec<Op>>,
}

impl<'m> Builder<'m> {
    /// Creates a builder at an insertion point.
    pub fn at(module: &'m mut Module, point: InsertPoint) -> Self {
        let (block, before) = point.place(module);
        Builder { module, block, before, made: None }
    }

    /// Creates a builder at the end of a block.
    pub fn at_end(module: &'m mut Module, block: Block) -> Self {
        Builder::at(module, InsertPoint::End(block))
    }

    /// Creates a builder at the start of a block.
    pub fn at_start(module: &'m mut Module, block: Block) -> Self {
        Builder::at(module, InsertPoint::Start(block))
    }

    /// Creates a builder before an op that is in a block.
    pub fn before(module: &'m mut Module, op: Op) -> Self {
        Builder::at(module, InsertPoint::Before(op))
    }

    /// Creates a builder after an op that is in a block.
    pub fn after(module: &'m mut Module, op: Op) -> Self {
        Builder::at(module, InsertPoint::After(op))
    }

    /// Moves the insertion point to the end of a block.
    pub fn set_end(&mut self, block: Block) {
        (self.block, self.before) = (block, None);
    }

    /// Creates and inserts an op. Missing result types are inferred; declared defaults and segment sizes are filled in.
    ///
    /// # Errors
    /// The result types cannot be inferred.
    pub fn try_create(&mut self, mut state: OpState) -> Result<Op, InferError> {
        let ctx = self.module.ctx.clone();
        if let Some(info) = ctx.op_info(state.name) {
            for spec in info.attrs {
                let Some(text) = spec.default else { continue };
                let key = ctx.str(spec.name);
                if !state.props.iter().any(|e| e.0 == key) {
                    state.props.push((key, ctx.default_attr(text)));
                }
            }
            if info.traits.has(Traits::OPERAND_SEGMENTS) && !state.segments.is_empty() {
                state.props.push((ctx.str("operandSegmentSizes"), ctx.i32_array_attr(&state.segments)));
            }
            if state.result_types.is_empty() && !info.results.is_empty() {
                let props = ctx.dict_attr(state.props.clone());
                let args =
                    OpArgs { module: self.module, info, op: None, operands: &state.operands, props, result_types: &[] };
                state.result_types = infer_results(&args)?.into();
            }
        }
        let op = self.module.create_op(state);
        self.insert(op);
        Ok(op)
    }

    /// Creates and inserts an op whose types are known to be inferable; see [`Builder::try_create`].
    pub fn create(&mut self, state: OpState) -> Op {
        self.try_create(state).unwrap_or_else(|e| panic!("{e}"))
    }

    /// Inserts a detached op.
    pub fn insert(&mut self, op: Op) {
        self.module.insert_op(self.block, op, self.before);
        if let Some(made) = &mut self.made {
            made.push(op);
        }
    }

    /// Creates a constant of type `ty`: with the constant op of dialect `prefer` if it has one, else of any dialect
    /// whose constant op accepts the type.
    pub fn constant(&mut self, attr: Attr, ty: Type, prefer: &str, loc: Loc) -> Option<Value> {
        let op = make_constant(self.module, attr, ty, prefer, loc)?;
        self.insert(op);
        Some(self.module.result(op, 0))
    }
}

/// Creates a detached constant op.
pub(crate) fn make_constant(m: &mut Module, attr: Attr, ty: Type, prefer: &str, loc: Loc) -> Option<Op> {
    let ctx = m.ctx.clone();
    let own = ctx.dialect(prefer).and_then(|d| d.constant);
    let any = ctx.dialects().iter().filter_map(|d| d.constant);
    for name in own.into_iter().chain(any) {
        let name = ctx.op_name(name);
        let info = ctx.op_info(name)?;
        let props = ctx.dict_attr(vec![(Str::VALUE, attr)]);
        let fits = info.attrs.iter().all(|a| a.name != "value" || (a.kind.check)(&ctx, attr))
            && (info.results[0].ty.check)(&ctx, ty);
        let inferred = info.infer.and_then(|infer| {
            infer(&OpArgs { module: m, info, op: None, operands: &[], props, result_types: &[] }).ok()
        });
        if fits && inferred.is_none_or(|types| types == [ty]) {
            let op = m.create_raw(name, loc, &[], &[ty], props, ctx.dict_attr(vec![]), &[], 0);
            if info.verify.is_none_or(|verify| verify(m, op).is_ok()) {
                return Some(op);
            }
            m.erase_op(op);
        }
    }
    None
}
