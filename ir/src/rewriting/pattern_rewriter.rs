//! The rewriter interface for patterns, common to the greedy driver ([`Rewriter`](crate::Rewriter)) and dialect
//! conversion ([`ConversionRewriter`](crate::rewriting::conversion::ConversionRewriter)).

use crate::builder::{Builder, InsertPoint};
use crate::copy::ValueMap;
use crate::edit::OpState;
use crate::intern::Type;
use crate::module::{Block, Module, Op, Region, Value, ValueList};
use crate::text::loc::Loc;
use crate::typing::InferError;

/// A change to the module, with the information to undo it.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// An op was created. The contents of its regions are reported separately.
    Created(Op),
    /// An op was cloned with its regions.
    Cloned {
        /// The original.
        from: Op,
        /// The clone.
        copy: Op,
    },
    /// Operand `index` of `op` was replaced.
    Operand {
        /// The user.
        op: Op,
        /// The operand index.
        index: u32,
        /// The previous value.
        old: Value,
    },
    /// The ops `first` to `last` were moved.
    Moved {
        /// The first of the consecutive ops.
        first: Op,
        /// The last one.
        last: Op,
        /// The previous block.
        from: Block,
        /// The op that followed them there.
        next: Option<Op>,
    },
    /// A block was created.
    BlockCreated(Block),
    /// An argument was appended to a block.
    ArgAdded(Block),
    /// A block was moved.
    BlockMoved {
        /// The block.
        block: Block,
        /// The previous region.
        from: Region,
        /// The block that followed it there.
        next: Option<Block>,
    },
}

/// The mutations available to patterns. Each is reported to the driver.
pub trait PatternRewriter {
    /// Returns the module, read-only.
    fn module(&self) -> &Module;

    /// Returns the module for mutation without notifying the driver: for this trait's methods only.
    #[doc(hidden)]
    fn module_mut_unlogged(&mut self) -> &mut Module;

    /// Notifies the driver of a change.
    #[doc(hidden)]
    fn note(&mut self, change: Change);

    /// Erases a block without ops whose arguments are unused.
    #[doc(hidden)]
    fn erase_empty_block(&mut self, block: Block);

    /// Replaces all uses of `old` with `new`. The greedy driver expects one value of the same type; dialect conversion
    /// accepts any number of values of any types, and inserts casts where types differ.
    fn replace_value(&mut self, old: Value, new: &[Value]);

    /// Changes an op in place: operands, attributes, successors and result types only.
    fn modify(&mut self, op: Op, change: impl FnOnce(&mut Module));

    /// Drops all operands of an op.
    fn drop_operands(&mut self, op: Op);

    /// Erases an op with its regions. Its results must be unused.
    fn erase(&mut self, op: Op);

    /// Creates an op.
    ///
    /// # Errors
    /// The result types cannot be inferred.
    fn create(&mut self, at: InsertPoint, state: OpState) -> Result<Op, InferError> {
        let op = Builder::at(self.module_mut_unlogged(), at).try_create(state)?;
        self.note(Change::Created(op));
        Ok(op)
    }

    /// Creates an op before `op`.
    fn create_before(&mut self, op: Op, state: OpState) -> Result<Op, InferError> {
        self.create(InsertPoint::Before(op), state)
    }

    /// Creates ops with a builder, for declared ops' `build`. The closure must only insert ops through the builder.
    fn build<T>(&mut self, at: InsertPoint, make: impl FnOnce(&mut Builder<'_>) -> T) -> T {
        let mut builder = Builder::at(self.module_mut_unlogged(), at);
        builder.made = Some(Vec::new());
        let out = make(&mut builder);
        for op in builder.made.take().unwrap_or_default() {
            self.note(Change::Created(op));
        }
        out
    }

    /// Replaces the results of `op` by `values`, one each, and erases it.
    fn replace(&mut self, op: Op, values: &[Value]) {
        let results: ValueList = self.module().results(op).collect();
        assert_eq!(results.len(), values.len(), "each result is replaced by one value");
        for (result, &value) in results.into_iter().zip(values) {
            self.replace_value(result, &[value]);
        }
        self.erase(op);
    }

    /// Replaces `op` by an op created from `state` with the same number of results.
    fn replace_with(&mut self, op: Op, state: OpState) -> Result<Op, InferError> {
        let new = self.create_before(op, state)?;
        let values: ValueList = self.module().results(new).collect();
        self.replace(op, &values);
        Ok(new)
    }

    /// Replaces the uses of `old` that `which` accepts (user and operand index) with `new`, of the same type. Returns
    /// whether there were any.
    fn replace_uses_if(&mut self, old: Value, new: Value, which: impl Fn(&Module, Op, usize) -> bool) -> bool {
        if old == new {
            return false;
        }
        let m = self.module();
        let uses: Vec<(Op, usize)> = m.uses(old).filter(|&(op, i)| which(m, op, i)).collect();
        for &(op, index) in &uses {
            self.module_mut_unlogged().set_operand(op, index, new);
            self.note(Change::Operand { op, index: index as u32, old });
        }
        !uses.is_empty()
    }

    /// Replaces the uses of `old` outside of op `except` with `new`, of the same type.
    fn replace_uses_except(&mut self, old: Value, new: Value, except: Op) {
        let _ = self.replace_uses_if(old, new, |_, op, _| op != except);
    }

    /// Moves an op.
    fn move_op(&mut self, op: Op, to: InsertPoint) {
        let (block, next) = to.place(self.module());
        if next != Some(op) {
            self.move_ops(op, op, block, next);
        }
    }

    /// Moves the consecutive ops `first` to `last` before `next` of `to`, or to its end.
    fn move_ops(&mut self, first: Op, last: Op, to: Block, next: Option<Op>) {
        let m = self.module();
        let from = m.parent_block(first).expect("the op is in a block");
        let change = Change::Moved { first, last, from, next: m.next_op(last) };
        self.module_mut_unlogged().move_ops(first, last, to, next);
        self.note(change);
    }

    /// Clones `op` with its regions. Operands in `map` are replaced; `map` receives the cloned values.
    fn clone_op(&mut self, op: Op, map: &mut ValueMap, at: InsertPoint) -> Op {
        let (block, next) = at.place(self.module());
        let copy = self.module_mut_unlogged().clone_op(op, map);
        self.module_mut_unlogged().insert_op(block, copy, next);
        self.note(Change::Cloned { from: op, copy });
        copy
    }

    /// Clones the blocks of `from` to the end of `to`; see [`PatternRewriter::clone_op`].
    fn clone_region(&mut self, from: Region, to: Region, map: &mut ValueMap) {
        let m = self.module();
        let last = m.region_blocks(to).next_back();
        let originals: Vec<Op> = m.region_blocks(from).flat_map(|block| m.block_ops(block)).collect();
        self.module_mut_unlogged().clone_region_into(from, to, map);
        let m = self.module();
        let first = last.map_or_else(|| m.entry(to), |block| m.next_block(block));
        let made: Vec<Block> = std::iter::successors(first, |&block| m.next_block(block)).collect();
        let copies: Vec<Op> = made.iter().flat_map(|&block| m.block_ops(block)).collect();
        made.into_iter().for_each(|block| self.note(Change::BlockCreated(block)));
        originals.into_iter().zip(copies).for_each(|(from, copy)| self.note(Change::Cloned { from, copy }));
    }

    /// Creates a block with arguments of these types and locations, before `before` of `region` or at its end.
    fn create_block(&mut self, region: Region, before: Option<Block>, args: &[(Type, Loc)]) -> Block {
        let m = self.module_mut_unlogged();
        let block = m.create_block();
        m.insert_block(region, block, before);
        for &(ty, loc) in args {
            m.add_block_arg(block, ty, loc);
        }
        self.note(Change::BlockCreated(block));
        block
    }

    /// Appends an argument to a block. The caller updates the branches to it.
    fn add_block_arg(&mut self, block: Block, ty: Type, loc: Loc) -> Value {
        let arg = self.module_mut_unlogged().add_block_arg(block, ty, loc);
        self.note(Change::ArgAdded(block));
        arg
    }

    /// Splits the block of `op`: moves `op` and all later ops to a new block after it, leaving the first without a
    /// terminator. Linear in the number of ops moved.
    fn split_block(&mut self, op: Op) -> Block {
        let m = self.module();
        let block = m.parent_block(op).expect("the op is in a block");
        let region = m.parent_region(block).expect("the block is in a region");
        let (last, next) = (m.last_op(block).unwrap_or(op), m.next_block(block));
        let tail = self.create_block(region, next, &[]);
        self.move_ops(op, last, tail, None);
        tail
    }

    /// Moves the ops of `source` before `next` of `to`, or to its end, replaces the arguments of `source` by `args`,
    /// and erases `source`.
    fn inline_block(&mut self, source: Block, to: Block, next: Option<Op>, args: &[Value]) {
        let params: ValueList = self.module().block_args(source).into();
        assert_eq!(params.len(), args.len(), "each block argument is replaced by one value");
        for (param, &arg) in params.into_iter().zip(args) {
            self.replace_value(param, &[arg]);
        }
        let m = self.module();
        if let (Some(first), Some(last)) = (m.first_op(source), m.last_op(source)) {
            self.move_ops(first, last, to, next);
        }
        self.erase_empty_block(source);
    }

    /// Inlines the ops of `source` before `op`; see [`PatternRewriter::inline_block`].
    fn inline_block_before(&mut self, source: Block, op: Op, args: &[Value]) {
        let to = self.module().parent_block(op).expect("the op is in a block");
        self.inline_block(source, to, Some(op), args);
    }

    /// Inlines the ops of `source` at the end of `dest`; see [`PatternRewriter::inline_block`].
    fn merge_blocks(&mut self, source: Block, dest: Block, args: &[Value]) {
        self.inline_block(source, dest, None, args);
    }

    /// Moves a block before `before` of `to`, or to its end.
    fn move_block(&mut self, block: Block, to: Region, before: Option<Block>) {
        let m = self.module();
        let from = m.parent_region(block).expect("the block is in a region");
        let change = Change::BlockMoved { block, from, next: m.next_block(block) };
        let m = self.module_mut_unlogged();
        m.unlink_block(block);
        m.insert_block(to, block, before);
        self.note(change);
    }

    /// Moves all blocks of `from` before `before` of `to`, or to its end.
    fn inline_region(&mut self, from: Region, to: Region, before: Option<Block>) {
        while let Some(block) = self.module().entry(from) {
            self.move_block(block, to, before);
        }
    }

    /// Moves all blocks of `from` before `before`.
    fn inline_region_before(&mut self, from: Region, before: Block) {
        let to = self.module().parent_region(before).expect("the block is in a region");
        self.inline_region(from, to, Some(before));
    }

    /// Erases a block and its ops; their values must have no uses outside it.
    fn erase_block(&mut self, block: Block) {
        let ops: Vec<Op> = self.module().block_ops(block).collect();
        for &op in &ops {
            for inner in self.module().ops_under(op) {
                self.drop_operands(inner);
            }
        }
        for op in ops.into_iter().rev() {
            self.erase(op);
        }
        self.erase_empty_block(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewriting::greedy::rewrite_greedily;
    use crate::{
        Context, Dialect, OpInfo, ParseOptions, Pattern, PrintOptions, Rewriter, Traits, parse_module, verify,
    };

    /// Rewrites for any driver: replaces the op by its block, and puts a clone of its region before it.
    fn unpack(r: &mut impl PatternRewriter, op: Op) -> bool {
        let m = r.module();
        let &[region] = m.regions(op) else { return false };
        let (Some(block), operands) = (m.entry(region), m.operands(op).to_vec()) else { return false };
        let state = OpState { regions: 1, ..OpState::new(&m.ctx, "u.copy", m.loc(op)) };
        let copy = r.create_before(op, state).expect("has no results");
        let to = r.module().regions(copy)[0];
        r.clone_region(region, to, &mut ValueMap::default());
        let end = r.module().last_op(block).expect("the block has a terminator");
        r.inline_block_before(block, op, &operands);
        let results = r.module().operands(end).to_vec();
        r.erase(end);
        r.replace(op, &results);
        true
    }

    static BOX: OpInfo = OpInfo {
        name: "t.box",
        traits: Traits::ISOLATED,
        effects: crate::Effects::Unknown,
        patterns: &[Pattern { name: "unpack", run: |r: &mut Rewriter<'_>, op| unpack(r, op) }],
        ..OpInfo::DEFAULT
    };
    static CONSTANT: OpInfo = OpInfo {
        name: "t.constant",
        attrs: &[crate::AttrSpec {
            name: "value",
            doc: "",
            optional: false,
            kind: &crate::AttrKind { summary: "", check: |_, _| true, text: crate::AttrText::Full },
            default: None,
        }],
        results: &[crate::ValueSpec {
            name: "result",
            doc: "",
            arity: crate::Arity::One,
            ty: &crate::TypeConstraint { summary: "", check: |_, _| true, only: None },
        }],
        traits: Traits::CONSTANT_LIKE,
        ..OpInfo::DEFAULT
    };
    static DIALECT: Dialect = Dialect {
        name: "t",
        doc: "",
        ops: &[&BOX, &CONSTANT],
        attrs: &[],
        constant: Some("t.constant"),
        ..Dialect::DEFAULT
    };

    #[test]
    fn the_greedy_driver_looks_at_what_was_moved_and_copied() {
        // The inner constant is recorded for the region that it is moved out of.
        let text = r#"
            %0 = "u.def"() : () -> i32
            %1 = "t.box"(%0) ({
            ^a(%x: i32):
              %2 = "t.constant"() <{value = 1 : i32}> : () -> i32
              %3 = "t.box"(%2) ({
              ^b(%y: i32):
                %4 = "t.constant"() <{value = 1 : i32}> : () -> i32
                "u.use"(%4) : (i32) -> ()
                "u.end"(%y) : (i32) -> ()
              }) : (i32) -> i32
              "u.end"(%3) : (i32) -> ()
            }) : (i32) -> i32
            "u.use"(%1) : (i32) -> ()
        "#;
        let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
        let mut m = parse_module(&Context::new(&[&DIALECT]), "t", text.to_owned(), options).expect("parses");
        let root = m.root();
        rewrite_greedily(&mut m, root);
        verify(&m).expect("is valid");
        insta::assert_snapshot!(m.to_text(PrintOptions::default()), @r#"
"builtin.module"() ({
  %0 = "t.constant"() <{value = 1 : i32}> : () -> i32
  %1 = "u.def"() : () -> i32
  "u.copy"() ({
  ^bb0(%arg0: i32):
    %2 = "t.constant"() <{value = 1 : i32}> : () -> i32
    "u.copy"() ({
    ^bb0(%arg1: i32):
      %3 = "t.constant"() <{value = 1 : i32}> : () -> i32
      "u.use"(%3) : (i32) -> ()
      "u.end"(%arg1) : (i32) -> ()
    }) : () -> ()
    "u.use"(%2) : (i32) -> ()
    "u.end"(%2) : (i32) -> ()
  }) : () -> ()
  "u.copy"() ({
  ^bb0(%arg0: i32):
    %2 = "t.constant"() <{value = 1 : i32}> : () -> i32
    "u.use"(%2) : (i32) -> ()
    "u.end"(%arg0) : (i32) -> ()
  }) : () -> ()
  "u.use"(%0) : (i32) -> ()
  "u.use"(%0) : (i32) -> ()
}) : () -> ()
"#);
    }
}
