//! Control flow between blocks.

use crate::function::GrowingFunction;
use crate::library::Library;
use crate::scope::{InsertionPoint, Scope};
use gradus_ir::{Block, Builder, Loc, Module, Op, OpName, OpState, Traits, Type, Value};
use rustc_hash::FxHashSet;

impl GrowingFunction<'_, '_> {
    /// Splits a block and connects the halves by branches through one or two new blocks.
    pub(crate) fn branch(&mut self, place: InsertionPoint) -> bool {
        let m = &self.p.module;
        let single = m.block_op(place.block).is_some_and(|op| m.has_trait(op, Traits::SINGLE_BLOCK));
        if single || m.block_op(place.block) != Some(self.function) || separates_tokens(m, place.before) {
            return false;
        }
        let scope = Scope::at(m, place, &self.above);
        let Some((jump, choice)) = branches(self.p.library) else { return false };
        let conditions = scope.of(Type::I1);
        if scope.all().is_empty() || conditions.is_empty() {
            return false;
        }
        let condition = self.p.random.pick(&conditions);
        let carried = self.p.random.pick(scope.all());
        let like = scope.of(carried.0);
        let after = self.module().split_block(place.before);
        let region = self.p.module.parent_region(place.block).expect("a block is in a region");
        let arg = self.module().add_block_arg(after, carried.0, Loc::UNKNOWN);
        self.above.insert(after, place.block);
        let mut sides = Vec::new();
        for _ in 0..2 {
            let value = self.p.random.pick(&like);
            let next = self.p.module.next_block(place.block);
            let side = self.module().create_block();
            self.module().insert_block(region, side, next);
            self.end_with(side, jump, &[], &[(after, value)]);
            self.above.insert(side, place.block);
            sides.push(side);
        }
        self.end_with_choice(place.block, choice, condition, &sides);
        let uses: Vec<(Op, usize)> = self.p.module.uses(carried.1).collect();
        for (user, i) in uses {
            let inside = self.p.module.parent_block(user) == Some(after);
            if inside && self.p.random.percent(50) {
                self.module().set_operand(user, i, arg);
            }
        }
        self.forget();
        self.blocks.extend(sides);
        self.blocks.push(after);
        true
    }

    fn end_with(&mut self, block: Block, name: OpName, operands: &[Value], to: &[(Block, Value)]) {
        let mut state = OpState::of(name, Loc::UNKNOWN);
        state.operand_group(operands);
        state.operands.extend(to.iter().map(|(_, v)| *v));
        state.successors = to.iter().map(|(block, _)| *block).collect();
        let op = self.module().create_op(state);
        self.module().append_op(block, op);
    }

    fn end_with_choice(&mut self, block: Block, name: OpName, condition: Value, to: &[Block]) {
        let mut state = OpState::of(name, Loc::UNKNOWN);
        state.operand_group(&[condition]);
        to.iter().for_each(|_| state.operand_group(&[]));
        state.successors = to.into();
        Builder::at_end(self.module(), block).create(state);
    }
}

/// Whether an op, or one after it in its block, uses a value of a dialect's type from before: such as a token, which may be
/// required in one block.
fn separates_tokens(m: &Module, from: Op) -> bool {
    let tail: FxHashSet<Op> = std::iter::successors(Some(from), |&op| m.next_op(op)).collect();
    let is_token = |&v: &Value| {
        m.ctx.declared(m.value_type(v)).is_some() && m.defining_op(v).is_some_and(|def| !tail.contains(&def))
    };
    tail.iter().any(|&op| m.operands(op).iter().any(is_token))
}

/// Returns the declared unconditional branch and the declared conditional branch.
fn branches(library: &Library) -> Option<(OpName, OpName)> {
    let ctx = &library.ctx;
    let infos = || {
        ctx.dialects()
            .iter()
            .filter(|d| library.allows(d.name))
            .flat_map(|d| d.ops)
            .filter(|info| info.successor_sizes.is_none())
    };
    let shaped = |successors: usize, operands: usize| {
        infos().find(|info| info.successors.len() == successors && info.operands.len() == operands)
    };
    Some((ctx.op_name(shaped(1, 1)?.name), ctx.op_name(shaped(2, 3)?.name)))
}
