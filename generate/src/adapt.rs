//! Adaptation of a fragment to the type of a value: all extents and element types of its signature are renamed.

use crate::function::GrowingFunction;
use crate::scope::InsertionPoint;
use crate::variation::Renaming;
use gradus_ir::{Builder, InsertPoint, Loc, Op, OpState, Type, Value};

/// Number of fragments that are tried.
const TRIES: usize = 4;

impl GrowingFunction<'_, '_> {
    /// Inserts an op without regions that uses a value, whatever its extents.
    pub(crate) fn adapt(&mut self, value: Value, place: InsertionPoint) -> bool {
        let ty = self.p.module.value_type(value);
        let ctx = &self.p.module.ctx;
        // Memory may hold addresses of memory, other types may not.
        if ctx.shape(ty).is_none() || ctx.dtype(ctx.element_type(ty)).is_none() {
            return false;
        }
        (0..TRIES).any(|_| {
            let part = self.p.pick_part();
            self.adapted(part, value, ty, place).is_some()
        })
    }

    fn adapted(&mut self, part: usize, value: Value, ty: Type, place: InsertionPoint) -> Option<Op> {
        let library = self.p.library;
        let part = &library.parts[part];
        let (source, ctx) = (&library.sources[part.source], &library.ctx);
        let info = source.info(part.op)?;
        if !info.regions.is_empty() || !part.symbols.is_empty() {
            return None;
        }
        let operands = source.operands(part.op);
        let renamings = operands.iter().map(|&v| Renaming::between(ctx, source.value_type(v), ty));
        let fitting: Vec<(usize, Renaming)> = renamings.enumerate().filter_map(|(i, r)| Some((i, r?))).collect();
        let (at, renaming) = fitting.into_iter().next()?;
        let mut state = OpState::new(ctx, info.name, Loc::UNKNOWN);
        for (i, &operand) in operands.iter().enumerate() {
            let wanted = renaming.of(ctx, source.value_type(operand))?;
            let hint = source.constant(operand).filter(|_| wanted == source.value_type(operand));
            let supplied = match i == at {
                true => value,
                false if wanted == ty && self.p.random.percent(30) => value,
                false => self.supply(wanted, hint, place)?,
            };
            state.operands.push(supplied);
        }
        state.props = ctx.dict_entries(source.props(part.op)).to_vec();
        if info.infer.is_none() {
            let results: Option<_> = source.results(part.op).map(|v| renaming.of(ctx, source.value_type(v))).collect();
            state.result_types = results?;
        }
        let op = Builder::at(self.module(), InsertPoint::Before(place.before)).try_create(state).ok()?;
        if self.is_valid(op, place.block) && (!part.may_fail || self.is_defined_with(op)) {
            return Some(op);
        }
        self.module().erase_op(op);
        None
    }
}
