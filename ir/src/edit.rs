//! Mutation of a module: creating, linking, moving and erasing ops and blocks, and replacing values.

use crate::context::Context;
use crate::entity::{Entity, PackedOption, Table};
use crate::intern::{Attr, Str, Type};
use crate::module::{
    Block, BlockData, Def, ExtData, Module, Op, OpData, Region, RegionData, Use, UseLink, Value, ValueData,
};
use crate::text::loc::Loc;
use smallvec::SmallVec;
use std::sync::Arc;

/// The parts of an op to create.
#[derive(Clone, Debug)]
pub struct OpState {
    /// The op's name.
    pub name: crate::OpName,
    /// The location.
    pub loc: Loc,
    /// Operands.
    pub operands: SmallVec<[Value; 4]>,
    /// The result types.
    pub result_types: SmallVec<[Type; 2]>,
    /// Inherent attributes.
    pub props: Vec<(Str, Attr)>,
    /// Discardable attributes.
    pub attrs: Vec<(Str, Attr)>,
    /// The successor blocks.
    pub successors: SmallVec<[Block; 2]>,
    /// Number of regions, created empty.
    pub regions: usize,
    /// Sizes of the operand groups, for `operandSegmentSizes`.
    pub(crate) segments: SmallVec<[i32; 4]>,
}

impl OpState {
    /// Creates the state of an op without operands, results or attributes.
    pub fn new(ctx: &Context, name: &str, loc: Loc) -> OpState {
        OpState::of(ctx.op_name(name), loc)
    }

    /// Creates the same from the key of an op name.
    pub fn of(name: crate::OpName, loc: Loc) -> OpState {
        OpState {
            name,
            loc,
            operands: SmallVec::new(),
            result_types: SmallVec::new(),
            props: Vec::new(),
            attrs: Vec::new(),
            successors: SmallVec::new(),
            regions: 0,
            segments: SmallVec::new(),
        }
    }

    /// Creates the state of an op with the name, location and attributes of `op`, without operands, results, regions
    /// and successors.
    pub fn like(m: &Module, op: Op) -> OpState {
        let mut state = OpState::of(m.name(op), m.loc(op));
        state.props = m.ctx.dict_entries(m.props(op)).to_vec();
        state.attrs = m.ctx.dict_entries(m.attrs(op)).to_vec();
        state
    }

    /// Creates the state of an op like `op` with the same operands, without results, regions and successors: the start
    /// of a modified copy.
    pub fn with_operands_of(m: &Module, op: Op) -> OpState {
        let mut state = OpState::like(m, op);
        let Some(args) = m.args(op) else {
            state.operands.extend_from_slice(m.operands(op));
            return state;
        };
        // Segment sizes are set again when the op is created.
        state.set_inherent(&m.ctx, "operandSegmentSizes", None);
        args.info.operands.iter().for_each(|group| state.operand_group(args.operand(group.name)));
        state
    }

    /// Appends the operands of the next declared group.
    pub fn operand_group(&mut self, values: &[Value]) {
        self.segments.push(values.len() as i32);
        self.operands.extend_from_slice(values);
    }

    /// Replaces the operands of a declared group; requires [`OpState::with_operands_of`].
    pub fn set_operand_group(&mut self, info: &crate::OpInfo, name: &str, values: &[Value]) {
        let Some(i) = info.operands.iter().position(|group| group.name == name) else { return };
        let start = self.segments[..i].iter().sum::<i32>() as usize;
        self.operands.drain(start..start + self.segments[i] as usize);
        self.operands.insert_many(start, values.iter().copied());
        self.segments[i] = values.len() as i32;
    }

    /// Sets or removes an inherent attribute.
    pub fn set_inherent(&mut self, ctx: &Context, name: &str, value: Option<Attr>) {
        let key = ctx.str(name);
        self.props.retain(|entry| entry.0 != key);
        self.props.extend(value.map(|value| (key, value)));
    }

    /// Sets an inherent attribute, if `value` is present.
    pub fn inherent(&mut self, ctx: &Context, name: &str, value: Option<Attr>) {
        self.props.extend(value.map(|v| (ctx.str(name), v)));
    }
}

/// The arguments of a block, with their locations.
#[derive(Clone, Default, Debug)]
pub(crate) struct BlockArgs {
    pub(crate) values: SmallVec<[Value; 2]>,
    pub(crate) locs: SmallVec<[Loc; 1]>,
}

impl Module {
    /// Creates an empty module.
    pub fn new(ctx: Arc<Context>) -> Module {
        let m = Module {
            ctx,
            ops: Table::default(),
            blocks: Table::default(),
            regions: Table::default(),
            values: Table::default(),
            exts: Table::default(),
            operand_values: Vec::new(),
            links: Vec::new(),
            free_operands: Vec::new(),
            resources: crate::Resources::new(),
            alias_hints: crate::module::AliasHints::default(),
            root: Op::new(0),
        };
        m.with_root()
    }

    fn with_root(mut self) -> Module {
        let mut state = OpState::new(&self.ctx.clone(), "builtin.module", Loc::UNKNOWN);
        state.regions = 1;
        self.root = self.create_op(state);
        let region = self.regions(self.root)[0];
        self.add_block(region);
        self
    }

    /// Clears the module and keeps its allocations.
    pub(crate) fn emptied(mut self) -> Module {
        self.ops.clear();
        self.blocks.clear();
        self.regions.clear();
        self.values.clear();
        self.exts.clear();
        self.operand_values.clear();
        self.links.clear();
        self.free_operands.clear();
        self.with_root()
    }

    /// Creates a detached op.
    pub fn create_op(&mut self, state: OpState) -> Op {
        let ctx = self.ctx.clone();
        let (props, attrs) = (ctx.dict_attr(state.props), ctx.dict_attr(state.attrs));
        self.create_raw(
            state.name,
            state.loc,
            &state.operands,
            &state.result_types,
            props,
            attrs,
            &state.successors,
            state.regions,
        )
    }

    /// [`Module::create_op`] from parts, with the attribute dictionaries already built.
    #[allow(clippy::too_many_arguments, reason = "the parser's hot path: an OpState would be built to be taken apart")]
    pub(crate) fn create_raw(
        &mut self,
        name: crate::OpName,
        loc: Loc,
        operands: &[Value],
        result_types: &[Type],
        props: Attr,
        attrs: Attr,
        successors: &[Block],
        regions: usize,
    ) -> Op {
        let op = self.ops.push(OpData {
            name,
            loc,
            parent: PackedOption::NONE,
            prev: PackedOption::NONE,
            next: PackedOption::NONE,
            operands: (0, 0),
            results: (0, 0),
            props,
            attrs,
            ext: PackedOption::NONE,
        });
        self.ops[op].operands = self.alloc_operands(op, operands);
        self.ops[op].results = self.alloc_results(op, result_types);
        if regions + successors.len() > 0 {
            self.count_branches(successors, 1);
            let ext = self.exts.push(ExtData { regions: SmallVec::new(), successors: successors.into() });
            self.ops[op].ext = ext.into();
            for _ in 0..regions {
                let region = self.regions.push(RegionData {
                    parent: op.into(),
                    first: PackedOption::NONE,
                    last: PackedOption::NONE,
                });
                self.exts[ext].regions.push(region);
            }
        }
        op
    }

    fn alloc_results(&mut self, op: Op, types: &[Type]) -> (u32, u32) {
        let value = |i: usize, ty| ValueData { ty, def: Def::Result(op, i as u32), first_use: PackedOption::NONE };
        if let [ty] = *types {
            return (self.values.push(value(0, ty)).0, 1);
        }
        let start = self.values.capacity() as u32;
        for (i, &ty) in types.iter().enumerate() {
            self.values.push_new(value(i, ty));
        }
        (start, types.len() as u32)
    }

    fn alloc_operands(&mut self, op: Op, operands: &[Value]) -> (u32, u32) {
        let n = operands.len();
        if n == 0 {
            return (0, 0);
        }
        let start = match self.free_operands.get_mut(n).and_then(Vec::pop) {
            Some(start) => {
                self.operand_values[start as usize..start as usize + n].copy_from_slice(operands);
                start
            }
            None => {
                let start = self.operand_values.len() as u32;
                self.operand_values.extend_from_slice(operands);
                self.links.resize(
                    start as usize + n,
                    UseLink { owner: op, prev: PackedOption::NONE, next: PackedOption::NONE },
                );
                start
            }
        };
        for i in 0..n {
            self.link_use(Use::new(start as usize + i), op);
        }
        (start, n as u32)
    }

    fn free_operand_range(&mut self, (start, len): (u32, u32)) {
        for i in start..start + len {
            self.unlink_use(Use(i));
        }
        if len > 0 {
            if self.free_operands.len() <= len as usize {
                self.free_operands.resize(len as usize + 1, Vec::new());
            }
            self.free_operands[len as usize].push(start);
        }
    }

    #[inline]
    fn link_use(&mut self, at: Use, owner: Op) {
        let value = self.operand_values[at.index()];
        let head = std::mem::replace(&mut self.values[value].first_use, at.into());
        self.links[at.index()] = UseLink { owner, prev: PackedOption::NONE, next: head };
        if let Some(next) = head.get() {
            self.links[next.index()].prev = at.into();
        }
    }

    #[inline]
    fn unlink_use(&mut self, at: Use) {
        let UseLink { prev, next, .. } = self.links[at.index()];
        match prev.get() {
            Some(p) => self.links[p.index()].next = next,
            None => self.values[self.operand_values[at.index()]].first_use = next,
        }
        if let Some(n) = next.get() {
            self.links[n.index()].prev = prev;
        }
    }

    /// Sets operand `i` of `op`.
    pub fn set_operand(&mut self, op: Op, i: usize, value: Value) {
        assert!(i < self.operands(op).len());
        let at = Use::new(self.ops[op].operands.0 as usize + i);
        self.unlink_use(at);
        self.operand_values[at.index()] = value;
        self.link_use(at, op);
    }

    /// Replaces all operands of `op`.
    pub fn set_operands(&mut self, op: Op, values: &[Value]) {
        self.free_operand_range(self.ops[op].operands);
        self.ops[op].operands = self.alloc_operands(op, values);
    }

    /// Replaces all uses of `old` with `new`.
    pub fn replace_all_uses(&mut self, old: Value, new: Value) {
        if old == new {
            return;
        }
        let Some(first) = self.values[old].first_use.get() else { return };
        let mut last = first;
        loop {
            self.operand_values[last.index()] = new;
            match self.links[last.index()].next.get() {
                Some(next) => last = next,
                None => break,
            }
        }
        let head = std::mem::replace(&mut self.values[new].first_use, first.into());
        self.links[last.index()].next = head;
        if let Some(head) = head.get() {
            self.links[head.index()].prev = last.into();
        }
        self.values[old].first_use = PackedOption::NONE;
    }

    /// Changes the type of a value.
    pub fn set_value_type(&mut self, value: Value, ty: Type) {
        self.values[value].ty = ty;
    }

    /// Sets an op's location.
    pub fn set_loc(&mut self, op: Op, loc: Loc) {
        self.ops[op].loc = loc;
    }

    /// Replaces the dictionary of inherent attributes.
    pub fn set_props(&mut self, op: Op, dict: Attr) {
        self.ops[op].props = dict;
    }

    /// Replaces the dictionary of discardable attributes.
    pub fn set_attrs(&mut self, op: Op, dict: Attr) {
        self.ops[op].attrs = dict;
    }

    /// Sets or removes an attribute: an inherent one if it is declared so, else a discardable one.
    pub fn set_attr(&mut self, op: Op, name: &str, value: Option<Attr>) {
        let key = self.ctx.str(name);
        let inherent = match self.info(op) {
            Some(info) => info.is_inherent(name),
            None => self.ctx.dict_get(self.props(op), key).is_some(),
        };
        let data = &self.ops[op];
        if inherent {
            self.ops[op].props = self.ctx.dict_with(data.props, key, value);
        } else {
            self.ops[op].attrs = self.ctx.dict_with(data.attrs, key, value);
        }
    }

    /// Adds an empty region to an op.
    pub fn add_region(&mut self, op: Op) -> Region {
        let region =
            self.regions.push(RegionData { parent: op.into(), first: PackedOption::NONE, last: PackedOption::NONE });
        let ext = self.ops[op].ext.get().unwrap_or_else(|| self.exts.push(ExtData::default()));
        self.ops[op].ext = ext.into();
        self.exts[ext].regions.push(region);
        region
    }

    /// Moves the regions of `from` to `to`, after its own.
    pub fn move_regions(&mut self, from: Op, to: Op) {
        let Some(ext) = self.ops[from].ext.get() else { return };
        for region in std::mem::take(&mut self.exts[ext].regions) {
            self.attach_region(to, region);
        }
    }

    /// Swaps two regions of an op.
    pub fn swap_regions(&mut self, op: Op, i: usize, j: usize) {
        let ext = self.ops[op].ext.get().expect("the op has regions");
        self.exts[ext].regions.swap(i, j);
    }

    /// Sets successor `i` of a terminator.
    pub fn set_successor(&mut self, op: Op, i: usize, block: Block) {
        let ext = self.ops[op].ext.get().expect("the op has successors");
        let old = std::mem::replace(&mut self.exts[ext].successors[i], block);
        self.count_branches(&[old], -1);
        self.count_branches(&[block], 1);
    }

    /// Replaces all successors of an op.
    pub fn set_successors(&mut self, op: Op, blocks: &[Block]) {
        let ext = self.ops[op].ext.get().unwrap_or_else(|| self.exts.push(ExtData::default()));
        self.ops[op].ext = ext.into();
        let old = std::mem::replace(&mut self.exts[ext].successors, blocks.into());
        self.count_branches(&old, -1);
        self.count_branches(blocks, 1);
    }

    fn count_branches(&mut self, to: &[Block], change: i32) {
        for &block in to {
            let uses = &mut self.blocks[block].uses;
            *uses = uses.wrapping_add_signed(change);
        }
    }

    /// Creates an empty block at the end of a region.
    pub fn add_block(&mut self, region: Region) -> Block {
        let block = self.create_block();
        self.append_block(region, block);
        block
    }

    /// Creates a detached block.
    pub fn create_block(&mut self) -> Block {
        self.blocks.push(BlockData {
            parent: PackedOption::NONE,
            prev: PackedOption::NONE,
            next: PackedOption::NONE,
            first: PackedOption::NONE,
            last: PackedOption::NONE,
            args: SmallVec::new(),
            arg_locs: SmallVec::new(),
            uses: 0,
        })
    }

    /// Inserts a detached block at the end of a region.
    pub(crate) fn append_block(&mut self, region: Region, block: Block) {
        self.insert_block(region, block, None);
    }

    /// Inserts a detached block before `before`, or at the end of the region.
    pub fn insert_block(&mut self, region: Region, block: Block, before: Option<Block>) {
        debug_assert!(self.blocks[block].parent == PackedOption::NONE);
        let prev = match before {
            Some(b) => self.blocks[b].prev,
            None => self.regions[region].last,
        };
        let data = &mut self.blocks[block];
        (data.parent, data.prev, data.next) = (region.into(), prev, before.into());
        match prev.get() {
            Some(p) => self.blocks[p].next = block.into(),
            None => self.regions[region].first = block.into(),
        }
        match before {
            Some(b) => self.blocks[b].prev = block.into(),
            None => self.regions[region].last = block.into(),
        }
    }

    /// Removes a block from its region without erasing it.
    pub fn unlink_block(&mut self, block: Block) {
        let data = &mut self.blocks[block];
        let (prev, next) = (data.prev, data.next);
        let Some(region) = data.parent.get() else { return };
        (data.parent, data.prev, data.next) = (PackedOption::NONE, PackedOption::NONE, PackedOption::NONE);
        match prev.get() {
            Some(p) => self.blocks[p].next = next,
            None => self.regions[region].first = next,
        }
        match next.get() {
            Some(n) => self.blocks[n].prev = prev,
            None => self.regions[region].last = prev,
        }
    }

    /// Moves all blocks of `from` before `before`, which is in another region.
    pub fn move_blocks_before(&mut self, from: Region, before: Block) {
        let to = self.parent_region(before).expect("the block is in a region");
        while let Some(block) = self.entry(from) {
            self.unlink_block(block);
            self.insert_block(to, block, Some(before));
        }
    }

    /// Splits the block of `op`: moves `op` and all later ops to a new block after it.
    pub fn split_block(&mut self, op: Op) -> Block {
        let before = self.parent_block(op).expect("the op is in a block");
        let region = self.parent_region(before).expect("the block is in a region");
        let block = self.create_block();
        self.insert_block(region, block, self.next_block(before));
        self.move_tail(op, block);
        block
    }

    /// Moves all blocks of `from` to the end of `to`.
    pub fn move_blocks(&mut self, from: Region, to: Region) {
        while let Some(block) = self.entry(from) {
            self.unlink_block(block);
            self.append_block(to, block);
        }
    }

    /// Appends an argument to a block.
    pub fn add_block_arg(&mut self, block: Block, ty: Type, loc: Loc) -> Value {
        let index = self.blocks[block].args.len() as u32;
        let value = self.values.push(ValueData { ty, def: Def::Arg(block, index), first_use: PackedOption::NONE });
        let data = &mut self.blocks[block];
        data.args.push(value);
        data.arg_locs.push(loc);
        value
    }

    /// Sets the location of block argument `i`.
    pub fn set_arg_loc(&mut self, block: Block, i: usize, loc: Loc) {
        self.blocks[block].arg_locs[i] = loc;
    }

    /// Erases argument `i`, which must be unused. The caller updates the operands of predecessors.
    pub fn erase_block_arg(&mut self, block: Block, i: usize) {
        self.retain_block_args(block, |j| j != i);
    }

    /// Erases the arguments whose indices `keep` rejects, which must be unused.
    pub fn retain_block_args(&mut self, block: Block, keep: impl Fn(usize) -> bool) {
        let (args, locs) = (self.block_args(block).to_vec(), self.blocks[block].arg_locs.to_vec());
        let data = &mut self.blocks[block];
        data.args.clear();
        data.arg_locs.clear();
        for (i, (arg, loc)) in args.into_iter().zip(locs).enumerate() {
            if keep(i) {
                let data = &mut self.blocks[block];
                self.values[arg].def = Def::Arg(block, data.args.len() as u32);
                data.args.push(arg);
                data.arg_locs.push(loc);
            } else {
                assert!(self.is_unused(arg), "an erased block argument is still used");
                self.values.free(arg);
            }
        }
    }

    /// Creates a detached block argument; see [`Module::swap_block_args`].
    pub(crate) fn detached_arg(&mut self, block: Block, ty: Type) -> Value {
        self.values.push(ValueData { ty, def: Def::Arg(block, u32::MAX), first_use: PackedOption::NONE })
    }

    /// Replaces a block's arguments by `args`, which receives the old ones.
    pub(crate) fn swap_block_args(&mut self, block: Block, args: &mut BlockArgs) {
        let data = &mut self.blocks[block];
        std::mem::swap(&mut data.args, &mut args.values);
        std::mem::swap(&mut data.arg_locs, &mut args.locs);
        for (i, &arg) in data.args.iter().enumerate() {
            self.values[arg].def = Def::Arg(block, i as u32);
        }
    }

    /// Frees an unused, detached block argument.
    pub(crate) fn free_arg(&mut self, arg: Value) {
        assert!(self.is_unused(arg), "an erased block argument is still used");
        self.values.free(arg);
    }

    /// Inserts a detached op at the end of a block.
    pub fn append_op(&mut self, block: Block, op: Op) {
        self.insert_op(block, op, None);
    }

    /// Inserts a detached op before `before`, or at the end of the block.
    #[inline]
    pub fn insert_op(&mut self, block: Block, op: Op, before: Option<Op>) {
        debug_assert!(self.ops[op].parent == PackedOption::NONE, "the op is in a block already");
        let prev = match before {
            Some(b) => self.ops[b].prev,
            None => self.blocks[block].last,
        };
        let data = &mut self.ops[op];
        (data.parent, data.prev, data.next) = (block.into(), prev, before.into());
        match prev.get() {
            Some(p) => self.ops[p].next = op.into(),
            None => self.blocks[block].first = op.into(),
        }
        match before {
            Some(b) => self.ops[b].prev = op.into(),
            None => self.blocks[block].last = op.into(),
        }
    }

    /// Removes an op from its block without erasing it.
    pub fn unlink_op(&mut self, op: Op) {
        let data = &mut self.ops[op];
        let (prev, next) = (data.prev, data.next);
        let Some(block) = data.parent.get() else { return };
        (data.parent, data.prev, data.next) = (PackedOption::NONE, PackedOption::NONE, PackedOption::NONE);
        match prev.get() {
            Some(p) => self.ops[p].next = next,
            None => self.blocks[block].first = next,
        }
        match next.get() {
            Some(n) => self.ops[n].prev = prev,
            None => self.blocks[block].last = prev,
        }
    }

    /// Moves an op before another one.
    pub fn move_before(&mut self, op: Op, before: Op) {
        let block = self.parent_block(before).expect("the op is in a block");
        self.unlink_op(op);
        self.insert_op(block, op, Some(before));
    }

    /// Moves an op to the end of a block.
    pub fn move_to_end(&mut self, op: Op, block: Block) {
        self.unlink_op(op);
        self.append_op(block, op);
    }

    /// Moves the consecutive ops `first` to `last` before `before` of `to`, or to its end.
    pub fn move_ops(&mut self, first: Op, last: Op, to: Block, before: Option<Op>) {
        let mut next = Some(first);
        while let Some(op) = next {
            next = self.next_op(op).filter(|_| op != last);
            self.unlink_op(op);
            self.insert_op(to, op, before);
        }
    }

    /// Moves `op` and all later ops of its block to the end of `to`.
    pub fn move_tail(&mut self, op: Op, to: Block) {
        let last = self.parent_block(op).and_then(|b| self.last_op(b)).expect("the op is in a block");
        self.move_ops(op, last, to, None);
    }

    /// Erases an op with its regions. Its results must be unused. Panics otherwise: a caller's bug.
    pub fn erase_op(&mut self, op: Op) {
        for result in self.results(op) {
            assert!(self.is_unused(result), "an erased {} is still used", self.name_text(op));
        }
        self.unlink_op(op);
        if self.regions(op).is_empty() {
            self.drop_uses(op);
            return self.free_op(op);
        }
        let nested = self.ops_under(op);
        nested.iter().for_each(|&inner| self.drop_uses(inner));
        for inner in nested {
            self.free_op(inner);
        }
    }

    /// Drops the operands and successors of an op.
    fn drop_uses(&mut self, op: Op) {
        self.free_operand_range(self.ops[op].operands);
        self.ops[op].operands = (0, 0);
        if let Some(ext) = self.ops[op].ext.get() {
            let successors = std::mem::take(&mut self.exts[ext].successors);
            self.count_branches(&successors, -1);
        }
    }

    /// Frees an op without operands, with its regions and blocks.
    fn free_op(&mut self, op: Op) {
        for value in self.results(op) {
            debug_assert!(self.is_unused(value), "a value is used outside the op that is erased");
            self.values.free(value);
        }
        if let Some(ext) = self.ops[op].ext.get() {
            for region in std::mem::take(&mut self.exts[ext].regions) {
                let mut next = self.entry(region);
                while let Some(block) = next {
                    next = self.blocks[block].next.get();
                    self.free_block(block);
                }
                self.regions.free(region);
            }
            self.exts.free(ext);
        }
        self.ops.free(op);
    }

    /// Frees a detached block without ops.
    pub(crate) fn free_block(&mut self, block: Block) {
        for arg in std::mem::take(&mut self.blocks[block].args) {
            self.values.free(arg);
        }
        self.blocks.free(block);
    }

    /// Erases a block and its ops; their values must have no uses outside it.
    pub fn erase_block(&mut self, block: Block) {
        self.erase_blocks(&[block]);
    }

    /// Erases blocks and their ops; their values and labels must have no uses outside them.
    pub fn erase_blocks(&mut self, blocks: &[Block]) {
        let ops: Vec<Op> = blocks.iter().flat_map(|&block| self.block_ops(block)).collect();
        // All uses are dropped first: an op that is erased later may branch to a block that is erased earlier.
        for &op in &ops {
            match self.regions(op).is_empty() {
                true => self.drop_uses(op),
                false => self.ops_under(op).into_iter().for_each(|inner| self.drop_uses(inner)),
            }
        }
        for op in ops.into_iter().rev() {
            self.erase_op(op);
        }
        for &block in blocks {
            self.unlink_block(block);
            self.free_block(block);
        }
    }

    /// Returns `op` and all ops in its regions in pre-order.
    pub fn ops_under(&self, op: Op) -> Vec<Op> {
        // A stack, reversed level by level, keeps the textual order without recursion.
        let (mut out, mut stack) = (Vec::new(), vec![op]);
        while let Some(op) = stack.pop() {
            out.push(op);
            let at = stack.len();
            for &region in self.regions(op) {
                for block in self.region_blocks(region) {
                    stack.extend(self.block_ops(block));
                }
            }
            stack[at..].reverse();
        }
        out
    }
}

/// Operations for the parser.
impl Module {
    /// Attaches a detached region to an op.
    pub(crate) fn attach_region(&mut self, op: Op, region: Region) {
        let ext = self.ops[op].ext.get().unwrap_or_else(|| self.exts.push(ExtData::default()));
        self.ops[op].ext = ext.into();
        self.exts[ext].regions.push(region);
        self.regions[region].parent = op.into();
    }

    /// Creates a detached region.
    pub(crate) fn detached_region(&mut self) -> Region {
        self.regions.push(RegionData {
            parent: PackedOption::NONE,
            first: PackedOption::NONE,
            last: PackedOption::NONE,
        })
    }

    /// Creates a placeholder for a value used before its definition.
    pub(crate) fn placeholder(&mut self, ty: Type) -> Value {
        self.values.push(ValueData { ty, def: Def::Result(self.root, u32::MAX), first_use: PackedOption::NONE })
    }

    /// Returns the value `n` keys after `first`, of the same op's results.
    #[inline]
    pub(crate) fn nth_value(&self, first: Value, n: u32) -> Value {
        Value(first.0 + n)
    }
}
