//! The arena that owns a module: ops, blocks, regions and values, and their links.
//!
//! Handles are `Copy` keys. Ops of a block and blocks of a region form intrusive linked lists, and so do the uses of a
//! value. The operands of an op are contiguous in one array; its results have consecutive keys.

use crate::context::Context;
use crate::entity::{Entity, PackedOption, Table};
use crate::intern::{Attr, OpName, Str, Type};
use crate::text::loc::Loc;
use crate::traits::Traits;
use crate::{Int, entity};
use bytes::Bytes;
use indexmap::IndexMap;
use smallvec::SmallVec;
use std::sync::Arc;

entity!(/** An operation. */ Op, "op");
entity!(/** A block: arguments, then ops. */ Block, "block");
entity!(/** A list of blocks inside an op; the first is the entry. */ Region, "region");
entity!(/** The result of an op or an argument of a block. */ Value, "value");
entity!(/** An operand of an op, as a place. */ Use, "use");
entity!(/** The regions and successors of an op that has any. */ Ext, "ext");

/// A short list of values.
pub type ValueList = SmallVec<[Value; 4]>;

#[derive(Clone, Debug)]
pub(crate) struct OpData {
    pub(crate) name: OpName,
    pub(crate) loc: Loc,
    pub(crate) parent: PackedOption<Block>,
    pub(crate) prev: PackedOption<Op>,
    pub(crate) next: PackedOption<Op>,
    pub(crate) operands: (u32, u32),
    pub(crate) results: (u32, u32),
    pub(crate) props: Attr,
    pub(crate) attrs: Attr,
    pub(crate) ext: PackedOption<Ext>,
}

#[derive(Clone, Default, Debug)]
pub(crate) struct ExtData {
    pub(crate) regions: SmallVec<[Region; 2]>,
    pub(crate) successors: SmallVec<[Block; 2]>,
}

#[derive(Clone, Debug)]
pub(crate) struct BlockData {
    pub(crate) parent: PackedOption<Region>,
    pub(crate) prev: PackedOption<Block>,
    pub(crate) next: PackedOption<Block>,
    pub(crate) first: PackedOption<Op>,
    pub(crate) last: PackedOption<Op>,
    pub(crate) args: SmallVec<[Value; 2]>,
    pub(crate) arg_locs: SmallVec<[Loc; 1]>,
    /// Number of successor references to the block.
    pub(crate) uses: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct RegionData {
    pub(crate) parent: PackedOption<Op>,
    pub(crate) first: PackedOption<Block>,
    pub(crate) last: PackedOption<Block>,
}

#[derive(Clone, Debug)]
pub(crate) struct ValueData {
    pub(crate) ty: Type,
    pub(crate) def: Def,
    pub(crate) first_use: PackedOption<Use>,
}

/// The definition of a value, with its index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Def {
    /// An op result.
    Result(Op, u32),
    /// A block argument.
    Arg(Block, u32),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct UseLink {
    pub(crate) owner: Op,
    pub(crate) prev: PackedOption<Use>,
    pub(crate) next: PackedOption<Use>,
}

/// An entry of a text's resource section (`{-# ... #-}`).
#[derive(Clone, PartialEq, Debug)]
pub enum Resource {
    /// `"0x..."`: an alignment and bytes.
    Blob(u32, Bytes),
    /// A string.
    Text(Arc<str>),
    /// `true` or `false`
    Flag(bool),
}

/// Resource sections (`dialect_resources` is first), their groups (dialects), and the entries.
pub type Resources = IndexMap<String, IndexMap<String, IndexMap<String, Resource>>>;

/// Base names (without trailing digits) of aliases, kept for printing.
#[derive(Clone, Default, Debug)]
pub(crate) struct AliasHints {
    pub(crate) attrs: rustc_hash::FxHashMap<Attr, Str>,
    pub(crate) types: rustc_hash::FxHashMap<Type, Str>,
}

/// A module: an IR program. The root op is a `builtin.module` with one region of one block.
#[derive(Clone)]
pub struct Module {
    /// Shared types, attributes, names and dialects.
    pub ctx: Arc<Context>,
    pub(crate) ops: Table<Op, OpData>,
    pub(crate) blocks: Table<Block, BlockData>,
    pub(crate) regions: Table<Region, RegionData>,
    pub(crate) values: Table<Value, ValueData>,
    pub(crate) exts: Table<Ext, ExtData>,
    /// The operands of all ops, and in parallel their links in the use lists.
    pub(crate) operand_values: Vec<Value>,
    pub(crate) links: Vec<UseLink>,
    /// Free ranges of operands, by length.
    pub(crate) free_operands: Vec<Vec<u32>>,
    /// The resource section.
    pub resources: Resources,
    /// Alias names that the parsed text gave to dialect attributes and types, reused for printing.
    pub(crate) alias_hints: AliasHints,
    pub(crate) root: Op,
}

impl Module {
    /// Returns the root op.
    pub fn root(&self) -> Op {
        self.root
    }

    /// Returns the block of the root op.
    pub fn body(&self) -> Block {
        self.only_block(self.regions(self.root)[0])
    }

    /// Returns the entry block of a region that is not empty. Panics otherwise: a caller's bug.
    pub fn only_block(&self, region: Region) -> Block {
        self.entry(region).expect("the region has a block")
    }

    /// Returns the op's name.
    #[inline]
    pub fn name(&self, op: Op) -> OpName {
        self.ops[op].name
    }

    /// Returns the op's name as text, such as `arith.addi`.
    pub fn name_text(&self, op: Op) -> &str {
        self.ctx.op_name_text(self.ops[op].name)
    }

    /// Whether the op has all of `traits`; unregistered ops have none.
    #[inline]
    pub fn has_trait(&self, op: Op, traits: Traits) -> bool {
        self.ctx.op_traits(self.ops[op].name).has(traits)
    }

    /// Whether a registered dialect declares the op.
    #[inline]
    pub(crate) fn is_declared(&self, op: Op) -> bool {
        self.ctx.is_declared(self.ops[op].name)
    }

    /// Returns the op's location.
    pub fn loc(&self, op: Op) -> Loc {
        self.ops[op].loc
    }

    /// Returns the operands.
    #[inline]
    pub fn operands(&self, op: Op) -> &[Value] {
        let (start, len) = self.ops[op].operands;
        &self.operand_values[start as usize..(start + len) as usize]
    }

    /// Returns the results, in order.
    #[inline]
    pub fn results(&self, op: Op) -> impl ExactSizeIterator<Item = Value> + Clone + use<> {
        let (start, len) = self.ops[op].results;
        (start as usize..(start as usize + len as usize)).map(Value::new)
    }

    /// Returns the number of results.
    #[inline]
    pub fn num_results(&self, op: Op) -> usize {
        self.ops[op].results.1 as usize
    }

    /// Returns result `i`. Panics if it does not exist: a caller's bug.
    #[inline]
    pub fn result(&self, op: Op, i: usize) -> Value {
        let (start, len) = self.ops[op].results;
        assert!(i < len as usize, "{} has {len} results", self.name_text(op));
        Value(start + i as u32)
    }

    /// Returns the regions.
    #[inline]
    pub fn regions(&self, op: Op) -> &[Region] {
        self.ops[op].ext.get().map_or(&[], |ext| &self.exts[ext].regions)
    }

    /// Returns the successor blocks of a terminator.
    #[inline]
    pub fn successors(&self, op: Op) -> &[Block] {
        self.ops[op].ext.get().map_or(&[], |ext| &self.exts[ext].successors)
    }

    /// Returns the dictionary of inherent attributes (`<{...}>`).
    #[inline]
    pub fn props(&self, op: Op) -> Attr {
        self.ops[op].props
    }

    /// Returns the dictionary of discardable attributes (`{...}`).
    #[inline]
    pub fn attrs(&self, op: Op) -> Attr {
        self.ops[op].attrs
    }

    /// Returns the attribute with this name, inherent or discardable.
    pub fn attr(&self, op: Op, name: Str) -> Option<Attr> {
        let data = &self.ops[op];
        self.ctx.dict_get(data.props, name).or_else(|| self.ctx.dict_get(data.attrs, name))
    }

    /// Returns the type of a value.
    #[inline]
    pub fn value_type(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// Returns the definition of a value.
    #[inline]
    pub fn def(&self, value: Value) -> Def {
        self.values[value].def
    }

    /// Returns the op that defines `value`; `None` for block arguments.
    #[inline]
    pub fn defining_op(&self, value: Value) -> Option<Op> {
        match self.values[value].def {
            Def::Result(op, _) => Some(op),
            Def::Arg(..) => None,
        }
    }

    /// Returns the block in which a value is defined; `None` for results of detached ops.
    pub fn def_block(&self, value: Value) -> Option<Block> {
        match self.values[value].def {
            Def::Result(op, _) => self.parent_block(op),
            Def::Arg(block, _) => Some(block),
        }
    }

    /// Returns the uses of a value (op and operand index), most recently added first.
    pub fn uses(&self, value: Value) -> impl Iterator<Item = (Op, usize)> + '_ {
        let mut next = self.values[value].first_use;
        std::iter::from_fn(move || {
            let at = next.get()?;
            let link = &self.links[at.index()];
            next = link.next;
            Some((link.owner, at.index() - self.ops[link.owner].operands.0 as usize))
        })
    }

    /// Whether the value has no uses.
    #[inline]
    pub fn is_unused(&self, value: Value) -> bool {
        self.values[value].first_use == PackedOption::NONE
    }

    /// Whether the value has exactly one use.
    pub fn has_one_use(&self, value: Value) -> bool {
        let first = self.values[value].first_use.get();
        first.is_some_and(|u| self.links[u.index()].next == PackedOption::NONE)
    }

    /// Returns the parent block of the op.
    #[inline]
    pub fn parent_block(&self, op: Op) -> Option<Block> {
        self.ops[op].parent.get()
    }

    /// Returns the parent region of the block.
    #[inline]
    pub fn parent_region(&self, block: Block) -> Option<Region> {
        self.blocks[block].parent.get()
    }

    /// Returns the parent op of the region.
    #[inline]
    pub fn region_op(&self, region: Region) -> Option<Op> {
        self.regions[region].parent.get()
    }

    /// Returns the parent op of the block's region.
    pub fn block_op(&self, block: Block) -> Option<Op> {
        self.region_op(self.parent_region(block)?)
    }

    /// Whether `outer` is a proper ancestor of `op`.
    pub fn is_inside(&self, op: Op, outer: Op) -> bool {
        std::iter::successors(self.parent_op(op), |&p| self.parent_op(p)).any(|p| p == outer)
    }

    /// Returns the parent op: the op whose region contains this one.
    pub fn parent_op(&self, op: Op) -> Option<Op> {
        self.block_op(self.parent_block(op)?)
    }

    /// Returns the next op in the block.
    #[inline]
    pub fn next_op(&self, op: Op) -> Option<Op> {
        self.ops[op].next.get()
    }

    /// Returns the previous op in the block.
    #[inline]
    pub fn prev_op(&self, op: Op) -> Option<Op> {
        self.ops[op].prev.get()
    }

    /// Returns the ops of a block, in order.
    pub fn block_ops(&self, block: Block) -> impl DoubleEndedIterator<Item = Op> + '_ {
        let data = &self.blocks[block];
        List {
            front: data.first.get(),
            back: data.last.get(),
            next: |op| self.next_op(op),
            prev: |op| self.prev_op(op),
        }
    }

    /// Returns the first op of a block.
    pub fn first_op(&self, block: Block) -> Option<Op> {
        self.blocks[block].first.get()
    }

    /// Returns the last op of a block.
    pub fn last_op(&self, block: Block) -> Option<Op> {
        self.blocks[block].last.get()
    }

    /// Returns the last op of a block if it can be a terminator: it has the trait, or is unregistered.
    pub fn terminator(&self, block: Block) -> Option<Op> {
        self.last_op(block).filter(|&op| !self.is_declared(op) || self.has_trait(op, Traits::TERMINATOR))
    }

    /// Returns the number of successor references to the block; a branch with the block as two successors counts twice.
    pub fn num_branches_to(&self, block: Block) -> usize {
        self.blocks[block].uses as usize
    }

    /// Returns the arguments of a block.
    #[inline]
    pub fn block_args(&self, block: Block) -> &[Value] {
        &self.blocks[block].args
    }

    /// Returns the location of block argument `i`.
    pub fn arg_loc(&self, block: Block, i: usize) -> Loc {
        self.blocks[block].arg_locs.get(i).copied().unwrap_or(Loc::UNKNOWN)
    }

    /// Returns the location of a value.
    pub fn value_loc(&self, value: Value) -> Loc {
        match self.def(value) {
            Def::Result(op, _) => self.loc(op),
            Def::Arg(block, i) => self.arg_loc(block, i as usize),
        }
    }

    /// Returns the blocks of a region, in order.
    pub fn region_blocks(&self, region: Region) -> impl DoubleEndedIterator<Item = Block> + '_ {
        let data = &self.regions[region];
        List {
            front: data.first.get(),
            back: data.last.get(),
            next: |b: Block| self.blocks[b].next.get(),
            prev: |b: Block| self.blocks[b].prev.get(),
        }
    }

    /// Returns the next block in the region.
    pub fn next_block(&self, block: Block) -> Option<Block> {
        self.blocks[block].next.get()
    }

    /// Returns the entry block of a region.
    #[inline]
    pub fn entry(&self, region: Region) -> Option<Block> {
        self.regions[region].first.get()
    }

    /// Whether the region has exactly one block.
    pub fn has_one_block(&self, region: Region) -> bool {
        let data = &self.regions[region];
        data.first != PackedOption::NONE && data.first == data.last
    }

    /// Returns the `value` attribute of the constant-like op that defines `value`; `None` for other values.
    pub fn constant(&self, value: Value) -> Option<Attr> {
        let op = self.defining_op(value)?;
        if !self.has_trait(op, Traits::CONSTANT_LIKE) {
            return None;
        }
        self.ctx.dict_get(self.props(op), Str::VALUE)
    }

    /// Whether the op has one result, which is a constant.
    pub fn is_constant(&self, op: Op) -> bool {
        self.num_results(op) == 1 && self.constant(self.result(op, 0)).is_some()
    }

    /// Returns the value of an integer constant that fits into 64 bits.
    pub fn constant_int(&self, value: Value) -> Option<i64> {
        match self.ctx.attr_data(self.constant(value)?) {
            crate::AttrData::Integer { value: Int::Small(v), .. } => Some(*v),
            _ => None,
        }
    }

    /// Returns the number of ops, including the root.
    pub fn num_ops(&self) -> usize {
        self.ops.live()
    }
}

/// A double-ended iterator over a linked list.
struct List<K, N, P> {
    front: Option<K>,
    back: Option<K>,
    next: N,
    prev: P,
}

impl<K: Copy + Eq, N: Fn(K) -> Option<K>, P: Fn(K) -> Option<K>> List<K, N, P> {
    fn step(&mut self, at: K, forward: bool) -> K {
        if self.front == self.back {
            (self.front, self.back) = (None, None);
        } else if forward {
            self.front = (self.next)(at);
        } else {
            self.back = (self.prev)(at);
        }
        at
    }
}

impl<K: Copy + Eq, N: Fn(K) -> Option<K>, P: Fn(K) -> Option<K>> Iterator for List<K, N, P> {
    type Item = K;
    fn next(&mut self) -> Option<K> {
        let at = self.front?;
        Some(self.step(at, true))
    }
}

impl<K: Copy + Eq, N: Fn(K) -> Option<K>, P: Fn(K) -> Option<K>> DoubleEndedIterator for List<K, N, P> {
    fn next_back(&mut self) -> Option<K> {
        let at = self.back?;
        Some(self.step(at, false))
    }
}
