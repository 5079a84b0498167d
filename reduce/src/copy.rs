//! Compacting copies. Erased entities stay in a module's arena and would be copied with every candidate.

use gradus_ir::{Block, Module, Op, OpState, Region, ValueMap};
use rustc_hash::FxHashMap;

/// Copies the program into a new arena.
pub fn compact(m: &Module) -> Module {
    let mut new = Module::new(m.ctx.clone());
    new.resources = m.resources.clone();
    let (root, body) = (new.root(), new.body());
    new.set_props(root, m.props(m.root()));
    new.set_attrs(root, m.attrs(m.root()));
    new.set_loc(root, m.loc(m.root()));
    let mut copy =
        Copy { from: m, to: new, values: ValueMap::default(), blocks: FxHashMap::default(), ops: Vec::new() };
    copy.block(m.body(), body);
    copy.into_module()
}

struct Copy<'m> {
    from: &'m Module,
    to: Module,
    values: ValueMap,
    blocks: FxHashMap<Block, Block>,
    /// Ops and their copies.
    ops: Vec<(Op, Op)>,
}

impl Copy<'_> {
    fn block(&mut self, from: Block, to: Block) {
        let mut regions = Vec::new();
        self.block_ops(from, to, &mut regions);
        while let Some((from, to)) = regions.pop() {
            self.region(from, to, &mut regions);
        }
    }

    /// Creates all blocks before their ops, which may branch to any of them.
    fn region(&mut self, from: Region, to: Region, regions: &mut Vec<(Region, Region)>) {
        let all: Vec<Block> = self.from.region_blocks(from).collect();
        for &block in &all {
            let new = self.to.add_block(to);
            self.blocks.insert(block, new);
            for (i, &arg) in self.from.block_args(block).iter().enumerate() {
                let copy = self.to.add_block_arg(new, self.from.value_type(arg), self.from.arg_loc(block, i));
                self.values.insert(arg, copy);
            }
        }
        for block in all {
            self.block_ops(block, self.blocks[&block], regions);
        }
    }

    fn block_ops(&mut self, from: Block, to: Block, regions: &mut Vec<(Region, Region)>) {
        let m = self.from;
        for op in m.block_ops(from) {
            let mut state = OpState::of(m.name(op), m.loc(op));
            state.result_types = m.results(op).map(|v| m.value_type(v)).collect();
            state.successors = m.successors(op).iter().filter_map(|b| self.blocks.get(b).copied()).collect();
            state.regions = m.regions(op).len();
            let new = self.to.create_op(state);
            self.to.set_props(new, m.props(op));
            self.to.set_attrs(new, m.attrs(op));
            self.to.append_op(to, new);
            self.values.extend(m.results(op).zip(self.to.results(new)));
            self.ops.push((op, new));
            regions.extend(m.regions(op).iter().copied().zip(self.to.regions(new).iter().copied()));
        }
    }

    /// Sets operands last, since a value may be used before its definition.
    fn into_module(mut self) -> Module {
        for &(old, new) in &self.ops {
            let operands: Vec<_> = self.from.operands(old).iter().map(|v| self.values[v]).collect();
            self.to.set_operands(new, &operands);
        }
        self.to
    }
}
