//! Unsound patterns for memory, calls and control flow, each as a pass, with a program that it breaks.

use gradus::dialects::{arith, memref};
use gradus::ir::greedy::GreedyOptions;
use gradus::ir::{
    Diagnostic, InsertPoint, Module, Op, Pass, PassContext, PassInfo, Pattern, PatternRewriter, Rewriter,
};

/// A pass that applies patterns.
struct Planted(&'static [Pattern]);

impl Pass for Planted {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        GreedyOptions { patterns: Some(self.0), ..GreedyOptions::default() }.run(m, op, cx.actions());
        Ok(())
    }
}

/// Declares a pass named after its pattern, which rewrites each op of one name once.
macro_rules! planted {
    ($($name:literal on $op:literal: $run:expr, $program:expr;)*) => {
        pub static PLANTED: &[(PassInfo, &str)] = &[$((
            PassInfo {
                name: $name,
                doc: "A bug",
                make: |_| {
                    const PATTERN: Pattern = Pattern {
                        name: $name,
                        run: |rw, op| {
                            let run: fn(&mut Rewriter<'_>, Op) -> bool = $run;
                            rw.module().name_text(op) == $op && is_new(rw.module(), op) && {
                                mark(rw, op);
                                run(rw, op)
                            }
                        },
                    };
                    Ok(Box::new(Planted(&[PATTERN])))
                },
                ..PassInfo::DEFAULT
            },
            $program,
        ),)*];
    };
}

/// Whether an op has not been changed yet.
fn is_new(m: &Module, op: Op) -> bool {
    m.attr(op, m.ctx.str("planted.done")).is_none()
}

fn mark(rw: &mut Rewriter<'_>, op: Op) {
    let unit = gradus::ir::Attr::UNIT;
    rw.modify(op, |m| m.set_attr(op, "planted.done", Some(unit)));
}

/// Returns the previous op of that name in the block.
fn before(m: &Module, op: Op, name: &str) -> Option<Op> {
    std::iter::successors(m.prev_op(op), |&op| m.prev_op(op)).find(|&op| m.name_text(op) == name)
}

/// Returns the first nested op of that name.
fn inside(m: &Module, op: Op, name: &str) -> Option<Op> {
    m.ops_under(op).into_iter().skip(1).find(|&op| m.name_text(op) == name)
}

/// Moves one op before another.
fn move_before(rw: &mut Rewriter<'_>, op: Option<Op>, to: Op) -> bool {
    op.map(|op| rw.move_op(op, InsertPoint::Before(to))).is_some()
}

/// Adds a constant to an index operand.
fn add_to_operand(rw: &mut Rewriter<'_>, op: Op, i: usize, n: i64) -> bool {
    let m = rw.module();
    let (old, loc) = (m.operands(op)[i], m.loc(op));
    let attr = m.ctx.int_attr(gradus::ir::Type::INDEX, n);
    let Some(n) = rw.constant(op, attr, gradus::ir::Type::INDEX) else { return false };
    let sum = rw.build(InsertPoint::Before(op), |b| {
        let none = b.module.ctx.default_attr("#arith.overflow<none>");
        arith::AddIOp::build(b, loc, old, n, none, &[]).result(b.module)
    });
    rw.modify(op, |m| m.set_operand(op, i, sum));
    true
}

fn swap_operands(rw: &mut Rewriter<'_>, op: Op, i: usize, j: usize) -> bool {
    let mut operands = rw.module().operands(op).to_vec();
    operands.swap(i, j);
    rw.modify(op, |m| m.set_operands(op, &operands));
    true
}

const STORES: &str = "func.func @f(%m: memref<4xi32>, %n: memref<4xi32>, %a: i32, %b: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  memref.store %a, %m[%c0] : memref<4xi32>
  memref.store %b, %n[%c0] : memref<4xi32>
  %0 = memref.load %m[%c0] : memref<4xi32>
  memref.store %a, %n[%c1] : memref<4xi32>
  return %0 : i32
}
";
const CALLS: &str = "func.func private @g(i32) -> i32
func.func private @h(memref<2xi32>)
func.func @f(%a: i32, %b: i32, %m: memref<2xi32>) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %0 = func.call @g(%a) : (i32) -> i32
  %1 = func.call @g(%b) : (i32) -> i32
  %2 = memref.load %m[%c0] : memref<2xi32>
  func.call @h(%m) : (memref<2xi32>) -> ()
  %3 = memref.load %m[%c0] : memref<2xi32>
  %4 = arith.addi %1, %2 : i32
  return %3, %4 : i32, i32
}
";
const GLOBAL: &str = "memref.global @counter : memref<i32> = dense<7>
memref.global \"private\" @scratch : memref<i32> = uninitialized
func.func private @tick()
func.func @f(%a: i32) -> (i32, i32) {
  %m = memref.get_global @counter : memref<i32>
  %s = memref.get_global @scratch : memref<i32>
  %0 = memref.load %m[] : memref<i32>
  memref.store %a, %m[] : memref<i32>
  func.call @tick() : () -> ()
  %1 = memref.load %m[] : memref<i32>
  memref.store %0, %s[] : memref<i32>
  memref.store %0, %m[] : memref<i32>
  return %0, %1 : i32, i32
}
";
const LOOP: &str = "func.func @f(%n: i4, %a: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.index_cast %n : i4 to index
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%x = %a) -> (i32) {
    %k = arith.index_cast %i : index to i32
    %y = arith.addi %x, %k : i32
    %z = arith.muli %y, %a : i32
    scf.yield %z : i32
  }
  return %r : i32
}
";
const BRANCH: &str = "func.func @f(%c: i1, %a: i8, %b: i8) -> i8 {
  %r = scf.if %c -> (i8) {
    %0 = arith.divui %a, %b : i8
    scf.yield %0 : i8
  } else {
    scf.yield %a : i8
  }
  return %r : i8
}
";
const BLOCKS: &str = "func.func @f(%c: i1, %a: i32, %b: i32) -> i32 {
  cf.cond_br %c, ^x(%a : i32), ^y(%b : i32)
^x(%0: i32):
  %1 = arith.muli %0, %b : i32
  cf.br ^z(%1, %a : i32, i32)
^y(%2: i32):
  cf.br ^z(%2, %b : i32, i32)
^z(%3: i32, %4: i32):
  %5 = arith.subi %3, %4 : i32
  cf.assert %c, \"must be\"
  return %5 : i32
}
";
const MATRIX: &str = "func.func @f(%m: memref<3x3xf32>, %t: tensor<3x3xf32>, %n: i2) -> (f32, f32) {
  %i = arith.index_castui %n : i2 to index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %k = arith.minui %i, %c2 : index
  %v = memref.subview %m[0, 1] [3, 2] [1, 1] : memref<3x3xf32> to memref<3x2xf32, strided<[3, 1], offset: 1>>
  %0 = memref.load %v[%k, %c1] : memref<3x2xf32, strided<[3, 1], offset: 1>>
  %1 = tensor.extract %t[%k, %c1] : tensor<3x3xf32>
  return %0, %1 : f32, f32
}
";
const LIFE: &str = "func.func @f(%a: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<1xi32>
  memref.store %a, %m[%c0] : memref<1xi32>
  %0 = memref.load %m[%c0] : memref<1xi32>
  memref.dealloc %m : memref<1xi32>
  return %0 : i32
}
";
const NEST: &str = "func.func @f(%m: memref<4x4xi32>, %n: memref<4x4xi32>) {
  affine.for %i = 1 to 4 {
    affine.for %j = 0 to 3 {
      %0 = affine.load %m[%i - 1, %j + 1] : memref<4x4xi32>
      affine.store %0, %n[%i, %j] : memref<4x4xi32>
    }
  }
  return
}
";

planted! {
    "lost-store" on "memref.store": |rw, op| { rw.erase(op); true }, STORES;
    "late-store" on "memref.store": |rw, op| {
        let end = rw.module().parent_block(op).and_then(|block| rw.module().terminator(block));
        end.is_some_and(|end| move_before(rw, Some(op), end))
    }, STORES;
    "forward-without-aliasing" on "memref.load": |rw, op| {
        let m = rw.module();
        let mut stores = std::iter::successors(before(m, op, "memref.store"), |&s| before(m, s, "memref.store"));
        let Some(store) = stores.find(|&s| m.operands(s)[1] == m.operands(op)[0]) else { return false };
        let value = memref::StoreOp(store).value(m);
        rw.replace(op, &[value]);
        true
    }, STORES;
    "load-over-call" on "memref.load": |rw, op| {
        let call = before(rw.module(), op, "func.call");
        call.is_some_and(|call| move_before(rw, Some(op), call))
    }, CALLS;
    "swapped-calls" on "func.call": |rw, op| {
        let call = before(rw.module(), op, "func.call");
        call.is_some_and(|call| move_before(rw, Some(op), call))
    }, CALLS;
    "dropped-call" on "func.call": |rw, op| {
        let m = rw.module();
        if m.results(op).any(|v| !m.is_unused(v)) { return false }
        rw.erase(op);
        true
    }, CALLS;
    "doubled-call" on "func.call": |rw, op| {
        rw.clone_op(op, &mut Default::default(), InsertPoint::Before(op));
        true
    }, CALLS;
    "merged-calls" on "func.call": |rw, op| {
        let m = rw.module();
        let Some(other) = before(m, op, "func.call").filter(|&other| m.num_results(op) == 1 && m.num_results(other) == 1)
        else { return false };
        let value = m.result(other, 0);
        rw.replace(op, &[value]);
        true
    }, CALLS;
    "one-iteration-more" on "scf.for": |rw, op| add_to_operand(rw, op, 1, 1), LOOP;
    "one-iteration-less" on "scf.for": |rw, op| add_to_operand(rw, op, 1, -1), LOOP;
    "first-iteration-skipped" on "scf.for": |rw, op| add_to_operand(rw, op, 0, 1), LOOP;
    "loop-runs-once" on "scf.for": |rw, op| {
        let m = rw.module();
        let args: Vec<_> = std::iter::once(m.operands(op)[0]).chain(m.operands(op)[3..].iter().copied()).collect();
        let region = m.regions(op)[0];
        rw.replace_with_region(op, region, &args);
        true
    }, LOOP;
    "hoisted-division" on "scf.if": |rw, op| {
        let division = inside(rw.module(), op, "arith.divui");
        move_before(rw, division, op)
    }, BRANCH;
    "swapped-branches" on "scf.if": |rw, op| { rw.modify(op, |m| m.swap_regions(op, 0, 1)); true }, BRANCH;
    "swapped-successors" on "cf.cond_br": |rw, op| {
        let to: Vec<_> = rw.module().successors(op).iter().rev().copied().collect();
        rw.modify(op, |m| m.set_successors(op, &to));
        true
    }, BLOCKS;
    "swapped-block-arguments" on "cf.br": |rw, op| swap_operands(rw, op, 0, 1), BLOCKS;
    "dropped-assertion" on "cf.assert": |rw, op| { rw.erase(op); true }, BLOCKS;
    "swapped-indices" on "memref.load": |rw, op| {
        rw.module().operands(op).len() == 3 && swap_operands(rw, op, 1, 2)
    }, "func.func @f(%m: memref<3x3xf32>, %n: i2) -> f32 {
  %i = arith.index_castui %n : i2 to index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %k = arith.minui %i, %c2 : index
  %0 = memref.load %m[%k, %c1] : memref<3x3xf32>
  return %0 : f32
}
";
    "swapped-tensor-indices" on "tensor.extract": |rw, op| swap_operands(rw, op, 1, 2), MATRIX;
    "forgotten-offset" on "memref.load": |rw, op| {
        let m = rw.module();
        let Some(view) = m.defining_op(m.operands(op)[0]) else { return false };
        let source = m.operands(view)[0];
        rw.modify(op, |m| m.set_operand(op, 0, source));
        true
    }, MATRIX;
    "early-free" on "memref.dealloc": |rw, op| {
        let load = before(rw.module(), op, "memref.load");
        load.is_some_and(|load| move_before(rw, Some(op), load))
    }, LIFE;
    "interchanged-loops" on "affine.for": |rw, op| {
        let m = rw.module();
        let Some(inner) = inside(m, op, "affine.for") else { return false };
        let (outer, inner) = (m.block_args(m.only_block(m.regions(op)[0]))[0], m.block_args(m.only_block(m.regions(inner)[0]))[0]);
        let uses: Vec<(Op, usize, bool)> = m.uses(outer).map(|(op, i)| (op, i, true)).chain(m.uses(inner).map(|(op, i)| (op, i, false))).collect();
        for (user, i, is_outer) in uses {
            rw.modify(user, |m| m.set_operand(user, i, if is_outer { inner } else { outer }));
        }
        true
    }, NEST;
    "global-assumed-initial" on "memref.load": |rw, op| {
        let seven = rw.module().ctx.int_attr(gradus::ir::Type::I32, 7);
        let Some(seven) = rw.constant(op, seven, gradus::ir::Type::I32) else { return false };
        rw.replace(op, &[seven]);
        true
    }, GLOBAL;
    "global-load-across-call" on "memref.load": |rw, op| {
        let Some(earlier) = before(rw.module(), op, "memref.load") else { return false };
        let value = rw.module().result(earlier, 0);
        rw.replace(op, &[value]);
        true
    }, GLOBAL;
    "global-store-after-call" on "func.call": |rw, op| {
        let store = before(rw.module(), op, "memref.store");
        store.is_some_and(|store| move_before(rw, Some(op), store))
    }, GLOBAL;
    "global-store-dropped" on "func.return": |rw, op| {
        let Some(store) = before(rw.module(), op, "memref.store") else { return false };
        rw.erase(store);
        true
    }, GLOBAL;
}
