//! Cloning ops, within a module or from another one with the same context.

use crate::intern::Type;
use crate::module::{Block, Module, Op, OpData, Region, Value};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// The mapping from values to their replacements in a clone.
pub type ValueMap = HashMap<Value, Value, BuildHasherDefault<rustc_hash::FxHasher>>;
type BlockMap = HashMap<Block, Block, BuildHasherDefault<rustc_hash::FxHasher>>;

impl Module {
    /// Clones `op` with its regions. Operands in `map` are replaced; `map` receives the cloned values.
    pub fn clone_op(&mut self, op: Op, map: &mut ValueMap) -> Op {
        self.clone_with(None, op, map, &mut HashMap::default())
    }

    /// Clones an op of another module with the same context. `map` holds replacements for the values that the op uses
    /// but does not define; it receives the cloned values. Resource attributes keep their keys.
    pub fn clone_op_of(&mut self, other: &Module, op: Op, map: &mut ValueMap) -> Op {
        self.clone_with(Some(other), op, map, &mut HashMap::default())
    }

    fn clone_with(&mut self, other: Option<&Module>, op: Op, map: &mut ValueMap, blocks: &mut BlockMap) -> Op {
        let from = other.unwrap_or(self);
        let used: SmallVec<[Value; 4]> = from.operands(op).into();
        let types: SmallVec<[Type; 2]> = from.results(op).map(|v| from.value_type(v)).collect();
        let successors: SmallVec<[Block; 2]> =
            from.successors(op).iter().map(|b| *blocks.get(b).unwrap_or(b)).collect();
        let OpData { name, loc, props, attrs, .. } = from.ops[op];
        let regions: SmallVec<[Region; 2]> = from.regions(op).into();
        let results = from.results(op);
        let operands: SmallVec<[Value; 4]> = used.into_iter().map(|v| self.stand_in(other, v, map)).collect();
        let copy = self.create_raw(name, loc, &operands, &types, props, attrs, &successors, regions.len());
        map.extend(results.zip(self.results(copy)));
        for (i, region) in regions.into_iter().enumerate() {
            self.clone_region(other, region, self.regions(copy)[i], map, blocks);
        }
        copy
    }

    /// Returns the mapped value, or a placeholder for a value that is cloned later.
    fn stand_in(&mut self, other: Option<&Module>, value: Value, map: &ValueMap) -> Value {
        match (map.get(&value), other) {
            (Some(&copy), _) => copy,
            (None, None) => value,
            (None, Some(other)) => self.placeholder(other.value_type(value)),
        }
    }

    /// Copies the blocks of `from` to the end of `to`; see [`Module::clone_op`].
    pub(crate) fn clone_region_into(&mut self, from: Region, to: Region, map: &mut ValueMap) {
        self.clone_region(None, from, to, map, &mut HashMap::default());
    }

    fn clone_region(
        &mut self,
        other: Option<&Module>,
        from: Region,
        to: Region,
        map: &mut ValueMap,
        blocks: &mut BlockMap,
    ) {
        let sources: Vec<Block> = other.unwrap_or(self).region_blocks(from).collect();
        for &source in &sources {
            let block = self.add_block(to);
            blocks.insert(source, block);
            for i in 0..other.unwrap_or(self).block_args(source).len() {
                let there = other.unwrap_or(self);
                let arg = there.block_args(source)[i];
                let (ty, loc) = (there.value_type(arg), there.arg_loc(source, i));
                let copy = self.add_block_arg(block, ty, loc);
                map.insert(arg, copy);
            }
        }
        let mut copies = Vec::new();
        for source in sources {
            let ops: Vec<Op> = other.unwrap_or(self).block_ops(source).collect();
            for op in ops {
                let copy = stacker::maybe_grow(64 << 10, 1 << 20, || self.clone_with(other, op, map, blocks));
                self.append_op(blocks[&source], copy);
                copies.push((op, copy));
            }
        }
        // A use may precede the clone of its definition, in graph regions or across blocks. Each operand is mapped from
        // the original: the replacement may be a key of the map itself.
        for (op, copy) in copies {
            for i in 0..self.operands(copy).len() {
                if let Some(&value) = map.get(&other.unwrap_or(self).operands(op)[i])
                    && self.operands(copy)[i] != value
                {
                    self.set_operand(copy, i, value);
                }
            }
        }
    }
}
