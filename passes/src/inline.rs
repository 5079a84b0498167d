//! `inline`: inlining of function calls.

use gradus_dialects::affine;
use gradus_ir::greedy::GreedyOptions;
use gradus_ir::pass::Rewrites;
use gradus_ir::symbols::{SymbolRefs, SymbolTables, is_private};
use gradus_ir::{
    AttrData, Block, Diagnostic, Loc, Module, Op, OpState, Pass, PassContext, PassInfo, Region, Traits, Value, ValueMap,
};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "inline",
    class: "Inliner",
    doc: "Inline function calls

# Before / After

```mlir
%0 = func.call @square(%x) : (i32) -> i32     // becomes: %0 = arith.muli %x, %x : i32
```

# Does

Visits the call graph bottom-up. Each function is canonicalized and its calls are replaced by copies of the callees' bodies, until
nothing changes or the iteration limit is reached. Unreferenced private functions are erased; the last call of a private function
takes its body instead of a copy.

# Refuses

Recursive calls, calls and functions marked `no_inline`, functions without a body, and callees with several blocks in single-block
regions.

# Cost

Linear in the size of the result, which can be exponential in the size of the input, as chains of doubling calls are.",
    anchor: Some("builtin.module"),
    statistics: &[("num-inlined", "Number of calls inlined")],
    rewrites: Rewrites::Tags(&["inline"]),
    make: |_| Ok(Box::new(Inline)),
    ..PassInfo::DEFAULT
};

/// Maximum number of iterations of canonicalization and inlining per strongly connected component.
const MAX_ITERATIONS: usize = 4;

struct Inline;

impl Pass for Inline {
    fn run(&mut self, m: &mut Module, op: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let mut graph = CallGraph::new(m, op);
        // Leaf functions are independent of each other.
        let leaves: Vec<Op> = graph.functions.iter().copied().filter(|&f| graph.is_leaf(m, op, f)).collect();
        cx.each_function(m, op, &leaves, |m, f| {
            GreedyOptions::default().run(m, f, None);
        });
        let leaves: FxHashSet<Op> = leaves.into_iter().collect();
        let components = graph.components();
        for (number, scc) in components.iter().enumerate() {
            graph.component.extend(scc.iter().map(|&f| (f, number)));
        }
        for scc in components.into_iter().filter(|scc| !scc.iter().all(|f| leaves.contains(f))) {
            graph.simplify_all(m, &scc, cx);
            for _ in 0..MAX_ITERATIONS {
                let inlined = scc.iter().map(|&f| graph.inline_calls(m, f, cx)).sum::<u64>();
                cx.count("num-inlined", inlined);
                if inlined == 0 {
                    break;
                }
                // Also after the last round: symbols of an inlined affine op may be dimensions of its new scope.
                graph.simplify_all(m, &scc, cx);
            }
        }
        graph.erase_dead(m);
        Ok(())
    }
}

/// An entry of the worklist of calls in a function.
enum Visit {
    /// A call.
    Call(Op),
    /// The end of the inlined body of a function.
    End(Op),
}

/// The call graph.
struct CallGraph {
    tables: SymbolTables,
    refs: SymbolRefs,
    functions: Vec<Op>,
    /// Number of references to each private function.
    uses: FxHashMap<Op, u64>,
    calls: DiGraph<Op, ()>,
    /// Functions that contain symbol references.
    refer: FxHashSet<Op>,
    /// Index of each function's strongly connected component.
    component: FxHashMap<Op, usize>,
    /// Functions whose body was moved to their only remaining call.
    emptied: FxHashSet<Op>,
}

impl CallGraph {
    fn new(m: &Module, root: Op) -> CallGraph {
        let mut graph = CallGraph {
            tables: SymbolTables::default(),
            refs: SymbolRefs::default(),
            functions: Vec::new(),
            uses: FxHashMap::default(),
            calls: DiGraph::new(),
            refer: FxHashSet::default(),
            component: FxHashMap::default(),
            emptied: FxHashSet::default(),
        };
        let mut nodes: FxHashMap<Op, NodeIndex> = FxHashMap::default();
        let ops = m.ops_under(root);
        for &op in ops.iter().filter(|&&op| m.has_trait(op, Traits::FUNCTION)) {
            nodes.insert(op, graph.calls.add_node(op));
            graph.functions.push(op);
            if is_private(m, op) {
                graph.uses.entry(op).or_default();
            }
        }
        for op in ops {
            if graph.count_references(m, op, 1) == 0 {
                continue;
            }
            let mut around = std::iter::successors(m.parent_op(op), |&around| m.parent_op(around));
            let Some(function) = around.find(|around| nodes.contains_key(around)) else { continue };
            graph.refer.insert(function);
            if let Some(&to) = graph.callee(m, op).and_then(|callee| nodes.get(&callee)) {
                graph.calls.add_edge(nodes[&function], to, ());
            }
        }
        graph
    }

    /// Whether the function is a direct child of `root`, alive, and without symbol references.
    fn is_leaf(&self, m: &Module, root: Op, function: Op) -> bool {
        let has_body = m.regions(function).first().is_some_and(|&body| m.entry(body).is_some());
        has_body && m.parent_op(function) == Some(root) && !self.refer.contains(&function) && !self.is_dead(function)
    }

    /// Returns strongly connected components in bottom-up order; functions within one in source order.
    fn components(&self) -> Vec<Vec<Op>> {
        let mut components: Vec<Vec<NodeIndex>> = kosaraju_scc(&self.calls);
        components.iter_mut().for_each(|scc| scc.sort_unstable());
        components.into_iter().map(|scc| scc.into_iter().map(|n| self.calls[n]).collect()).collect()
    }

    fn callee(&mut self, m: &Module, call: Op) -> Option<Op> {
        if !m.has_trait(call, Traits::CALL) {
            return None;
        }
        let callee = m.inherent_attr(call, "callee")?;
        self.tables.resolve(m, call, callee).filter(|&f| m.has_trait(f, Traits::FUNCTION))
    }

    /// Adds `change` to the count of each symbol that an op refers to. Returns the number of references.
    fn count_references(&mut self, m: &Module, op: Op, change: i64) -> usize {
        let refs = self.refs.of_op(m, op);
        for &symbol in &refs {
            if let Some(uses) = self.tables.resolve(m, op, symbol).and_then(|target| self.uses.get_mut(&target)) {
                *uses = uses.saturating_add_signed(change);
            }
        }
        refs.len()
    }

    fn simplify_all(&mut self, m: &mut Module, functions: &[Op], cx: &mut PassContext<'_>) {
        for &function in functions {
            self.simplify(m, function, cx);
        }
    }

    /// Canonicalizes a function, which may erase calls.
    fn simplify(&mut self, m: &mut Module, function: Op, cx: &mut PassContext<'_>) {
        if self.is_dead(function) {
            return;
        }
        self.count_inside(m, function, -1);
        GreedyOptions::default().run(m, function, cx.actions());
        self.count_inside(m, function, 1);
    }

    fn count_inside(&mut self, m: &Module, function: Op, change: i64) {
        for &op in &m.ops_under(function)[1..] {
            self.count_references(m, op, change);
        }
    }

    /// Whether the function is private and unreferenced.
    fn is_dead(&self, function: Op) -> bool {
        self.emptied.contains(&function) || self.uses.get(&function) == Some(&0)
    }

    /// Inlines calls in a function and returns their number. Calls inside inlined bodies are considered, except
    /// recursive ones and calls of functions that the body was inlined from.
    fn inline_calls(&mut self, m: &mut Module, function: Op, cx: &mut PassContext<'_>) -> u64 {
        if self.is_dead(function) {
            return 0;
        }
        let mut work: Vec<Visit> = calls(m, &m.ops_under(function)).into_iter().rev().map(Visit::Call).collect();
        // The functions whose inlined bodies contain the next call.
        let mut around: FxHashSet<Op> = FxHashSet::default();
        let mut inlined = 0;
        while let Some(visit) = work.pop() {
            let call = match visit {
                Visit::Call(call) => call,
                Visit::End(callee) => {
                    around.remove(&callee);
                    continue;
                }
            };
            let Some(callee) = self.callee(m, call) else { continue };
            let recursive = self.component.get(&callee) == self.component.get(&function);
            if recursive || around.contains(&callee) || !can_inline(m, call, callee) || !cx.allows("inline", m, call) {
                continue;
            }
            let calls = self.inline_call(m, call, callee);
            inlined += 1;
            around.insert(callee);
            work.push(Visit::End(callee));
            work.extend(calls.into_iter().rev().map(Visit::Call));
        }
        inlined
    }

    /// Replaces a call by the callee's body and returns the calls in it.
    fn inline_call(&mut self, m: &mut Module, call: Op, callee: Op) -> Vec<Op> {
        self.count_references(m, call, -1);
        let last = self.is_dead(callee);
        let shell = if last { callee } else { m.clone_op(callee, &mut ValueMap::default()) };
        let mut ops = m.ops_under(shell);
        ops.remove(0);
        if last {
            self.emptied.insert(callee);
        } else {
            self.count_inside(m, callee, 1);
        }
        relocate(m, shell, &ops, m.loc(call));
        // Before terminators of the body are erased.
        let calls = calls(m, &ops);
        let body = m.regions(shell)[0];
        splice(m, call, body);
        if !last {
            m.erase_op(shell);
        }
        calls
    }

    fn erase_dead(&self, m: &mut Module) {
        // Inner functions before those around them.
        for &function in self.functions.iter().rev() {
            if self.is_dead(function) {
                m.erase_op(function);
            }
        }
    }
}

/// Returns the calls among some ops.
fn calls(m: &Module, ops: &[Op]) -> Vec<Op> {
    ops.iter().copied().filter(|&op| m.has_trait(op, Traits::CALL)).collect()
}

fn can_inline(m: &Module, call: Op, callee: Op) -> bool {
    let Some(&body) = m.regions(callee).first() else { return false };
    let Some(entry) = m.entry(body) else { return false };
    let refused = |op: Op| m.attr(op, m.ctx.str("no_inline")).is_some();
    if refused(call) || refused(callee) || m.is_inside(call, callee) {
        return false;
    }
    if m.operands(call).len() != m.block_args(entry).len() {
        return false;
    }
    let one_block_only = m.parent_op(call).is_none_or(|p| {
        m.info(p).is_none_or(|i| i.traits.has(Traits::SINGLE_BLOCK) || i.traits.has(Traits::GRAPH_REGION))
    });
    let in_scope = m.parent_op(call).is_some_and(|p| m.has_trait(p, Traits::AFFINE_SCOPE));
    (m.has_one_block(body) || !one_block_only) && (in_scope || affine::can_inline(m, call, callee))
}

/// Wraps locations of inlined ops and arguments in a call-site location.
fn relocate(m: &mut Module, shell: Op, ops: &[Op], caller: Loc) {
    let caller = caller.to_attr(&m.ctx);
    let mut known: FxHashMap<Loc, Loc> = FxHashMap::default();
    let mut called = |m: &Module, loc: Loc| {
        *known
            .entry(loc)
            .or_insert_with(|| Loc::attr(m.ctx.attr(AttrData::LocCallSite { callee: loc.to_attr(&m.ctx), caller })))
    };
    for &op in ops.iter().chain([&shell]) {
        let loc = called(m, m.loc(op));
        m.set_loc(op, loc);
        for region in m.regions(op).to_vec() {
            for block in m.region_blocks(region).collect::<Vec<_>>() {
                for i in 0..m.block_args(block).len() {
                    let loc = called(m, m.arg_loc(block, i));
                    m.set_arg_loc(block, i, loc);
                }
            }
        }
    }
}

/// Splices the blocks of `body` in place of `call`, which is erased.
fn splice(m: &mut Module, call: Op, body: Region) {
    let blocks: Vec<Block> = m.region_blocks(body).collect();
    let entry = blocks[0];
    let operands: Vec<Value> = m.operands(call).to_vec();
    for (arg, operand) in m.block_args(entry).to_vec().into_iter().zip(operands) {
        m.replace_all_uses(arg, operand);
    }
    if let [only] = blocks[..] {
        let results = m.last_op(only).map_or(Vec::new(), |last| m.operands(last).to_vec());
        let ops: Vec<Op> = m.block_ops(only).collect();
        for &op in &ops[..ops.len() - 1] {
            m.move_before(op, call);
        }
        finish(m, call, &results);
        m.erase_op(ops[ops.len() - 1]);
        return;
    }
    let block = m.parent_block(call).expect("a call that is inlined is in a block");
    let region = m.parent_region(block).expect("and the block in a region");
    let after = m.create_block();
    let next = std::iter::successors(Some(call), |&op| m.next_op(op)).nth(1);
    m.insert_block(region, after, m.next_block(block));
    if let Some(next) = next {
        m.move_tail(next, after);
    }
    let results: Vec<Value> = m.results(call).collect();
    let loc = m.loc(call);
    let args: Vec<Value> = results.iter().map(|&r| m.add_block_arg(after, m.value_type(r), loc)).collect();
    for &moved in &blocks[1..] {
        m.unlink_block(moved);
        m.insert_block(region, moved, Some(after));
    }
    for op in m.block_ops(entry).collect::<Vec<_>>() {
        m.move_to_end(op, block);
    }
    finish(m, call, &args);
    m.erase_block(entry);
    for from in std::iter::once(block).chain(blocks[1..].iter().copied()) {
        branch_instead_of_return(m, from, after);
    }
}

fn finish(m: &mut Module, call: Op, results: &[Value]) {
    for (old, &new) in m.results(call).collect::<Vec<_>>().into_iter().zip(results) {
        m.replace_all_uses(old, new);
    }
    m.erase_op(call);
}

fn branch_instead_of_return(m: &mut Module, block: Block, to: Block) {
    let Some(last) = m.last_op(block).filter(|&op| m.has_trait(op, Traits::RETURN_LIKE)) else { return };
    let mut state = OpState::new(&m.ctx, "cf.br", m.loc(last));
    state.operands.extend_from_slice(m.operands(last));
    state.successors.push(to);
    let branch = m.create_op(state);
    m.insert_op(block, branch, Some(last));
    m.erase_op(last);
}
