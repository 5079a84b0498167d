//! `alloca_scope`: lifetime of stack allocations.

use super::AllocaOp;
use crate::constraint::ANY;
use gradus_ir::control::{Edge, Event, Next, Point};
use gradus_ir::{
    Directive, Effects, InsertPoint, Module, Op, OpDecl, Pattern, PatternRewriter, Rewriter, Traits, Value, Violation,
    op,
};

/// Executes its region once, and frees the stack allocations made in it.
///
/// ```mlir
/// memref.alloca_scope {
///   %0 = memref.alloca() : memref<4xf32>
/// }
/// ```
#[op(
    "memref.alloca_scope",
    traits = Traits::SINGLE_BLOCK.and(Traits::ALLOCATION_SCOPE),
    effects = Effects::Recursive,
    implicit_terminator = "memref.alloca_scope.return",
    directives = &[&SCOPE],
    format = "custom<Scope>($bodyRegion, type($results)) attr-dict",
    verify = verify_scope,
    edges = |_, _| smallvec::smallvec![
        Edge::new(Point::Op, Point::Region(0)),
        Edge::new(Point::Region(0), Point::Op),
    ],
    control = |_, _, event| Ok(match event {
        Event::Enter => Next::Region(0, vec![]),
        Event::Left { yielded, .. } => Next::Done(yielded.to_vec()),
    }),
    patterns = &[
        Pattern { name: "inline-scope", run: inline },
        Pattern { name: "hoist-allocations", run: hoist },
    ]
)]
pub struct AllocaScopeOp {
    /// Values yielded by the region.
    results: OpResults<ANY>,
    /// Body.
    #[name = "bodyRegion"]
    body: Region,
}

/// Terminates the region of `memref.alloca_scope`.
#[op(
    "memref.alloca_scope.return",
    traits = Traits::TERMINATOR.and(Traits::RETURN_LIKE),
    parents = &["memref.alloca_scope"],
    format = "attr-dict ($results^ `:` type($results))?"
)]
pub struct AllocaScopeReturnOp {
    /// Results of the scope.
    results: Operands<ANY>,
}

/// `-> (types) { body }`, with the two blanks that MLIR writes.
const SCOPE: Directive = Directive {
    name: "Scope",
    parse: |p, params| {
        if p.eat("->") {
            let types = p.result_types()?;
            p.set_types(params[1], types);
        } else {
            p.set_types(params[1], vec![]);
        }
        p.region(&[])?;
        Ok(())
    },
    print: |p, params| {
        let types = p.group_types(params[1]);
        if !types.is_empty() {
            p.text(" -> (");
            p.types(&types);
            p.text(")");
        }
        p.text(" ");
        let region = p.region_at(params[0]);
        p.body(region, false)
    },
};

fn verify_scope(m: &Module, op: Op) -> Result<(), Violation> {
    match m.entry(AllocaScopeOp(op).body(m)) {
        None => Err("region #0 ('bodyRegion') failed to verify constraint: region with 1 blocks".into()),
        Some(block) if !m.block_args(block).is_empty() => Err("region should have no arguments".into()),
        Some(_) => Ok(()),
    }
}

/// Whether an op in the scope may allocate stack memory that the scope frees.
fn may_allocate(m: &Module, scope: Op) -> bool {
    let mut stack = vec![scope];
    while let Some(op) = stack.pop() {
        for inner in m.regions(op).iter().flat_map(|&r| m.region_blocks(r)).flat_map(|b| m.block_ops(b)) {
            let unknown = m.info(inner).is_none_or(|i| i.effects == Effects::Unknown);
            if unknown || AllocaOp::cast(m, inner).is_some() {
                return true;
            }
            if !m.has_trait(inner, Traits::ALLOCATION_SCOPE) {
                stack.push(inner);
            }
        }
    }
    false
}

/// Whether only a terminator follows in a single-block region, so that lifetimes end at the same point.
fn is_last(m: &Module, op: Op) -> bool {
    let region = m.parent_block(op).and_then(|b| m.parent_region(b));
    let end = m.parent_block(op).and_then(|b| m.terminator(b));
    region.is_some_and(|r| m.has_one_block(r)) && end.is_some() && m.next_op(op) == end
}

/// Inlines a scope without allocations, and a scope that ends together with an enclosing one.
fn inline(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let in_scope = m.parent_op(op).is_some_and(|p| m.has_trait(p, Traits::ALLOCATION_SCOPE));
    if may_allocate(m, op) && !(in_scope && is_last(m, op)) {
        return false;
    }
    let body = AllocaScopeOp(op).body(m);
    r.replace_with_region(op, body, &[]);
    true
}

/// Hoists allocations to the enclosing scope that ends at the same point.
fn hoist(r: &mut Rewriter<'_>, op: Op) -> bool {
    let m = r.module();
    let Some(outermost) = outermost_holder(m, op) else { return false };
    let inside = |p: Op| p == outermost || m.is_inside(p, outermost);
    let available = |&v: &Value| m.def_block(v).and_then(|b| m.block_op(b)).is_some_and(|p| !inside(p));
    let body = m.only_block(AllocaScopeOp(op).body(m));
    let movable = |&inner: &Op| AllocaOp::cast(m, inner).is_some() && m.operands(inner).iter().all(available);
    let allocations: Vec<Op> = m.block_ops(body).filter(movable).collect();
    for &allocation in &allocations {
        r.move_op(allocation, InsertPoint::Before(outermost));
    }
    !allocations.is_empty()
}

/// Returns the outermost ancestor of a scope within another scope that ends at the same point.
fn outermost_holder(m: &Module, op: Op) -> Option<Op> {
    let is_scope = |op: Op| m.has_trait(op, Traits::ALLOCATION_SCOPE);
    let mut holder = m.parent_op(op).filter(|&p| is_last(m, op) && !is_scope(p))?;
    while is_last(m, holder) {
        let around = m.parent_op(holder)?;
        if is_scope(around) {
            return Some(holder);
        }
        holder = around;
    }
    None
}
