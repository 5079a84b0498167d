//! `layer`: parts of functions that a machine computes as programs, divided into layers.
//!
//! The ops of a layer are those of `graph`: its meaning is theirs. The choices for a layer (tiles, divisions, places) are attributes
//! of the machine's dialect, which `choose-layers` writes and `convert-layers-to-programs` obeys.

use gradus_dialects::constraint::{ARRAY, DICT, QUOTED, TENSOR};
use gradus_ir::control::{Edge, Event, Next, Point};
use gradus_ir::eval::{Datum, Trap};
use gradus_ir::{Dialect, Effects, Module, Op, OpArgs, OpDecl, Traits, Value, Violation, op};
use smallvec::smallvec;

/// A part of a function that a machine computes as one program.
///
/// It executes its region. Values from outside can be used directly. `with` has the options of `form-layers` that later passes obey, `by`
/// the choices for the program as a whole.
///
/// ```mlir
/// %y = layer.program "cluster" with {clusters = 2 : i64} -> tensor<1x16x8x8xf32> {
///   %0 = layer.fused "relu1" by [#cluster.split<"rows", 2>] -> tensor<1x16x8x8xf32> {
///     %a = graph.relu %x : tensor<1x16x8x8xf32>
///     layer.yield %a : tensor<1x16x8x8xf32>
///   }
///   layer.yield %0 : tensor<1x16x8x8xf32>
/// }
/// ```
#[op(
    "layer.program",
    traits = Traits::SINGLE_BLOCK,
    effects = Effects::Recursive,
    implicit_terminator = "layer.yield",
    format = "$machine (`with` $options^)? (`by` $choices^)? (`->` type($results)^)? $body attr-dict",
    verify_regions = |m, op| verify_body(m, op, LayerProgramOp(op).body(m)),
    edges = |_, _| smallvec![Edge::new(Point::Op, Point::Region(0)), Edge::new(Point::Region(0), Point::Op)],
    control = control
)]
pub struct LayerProgramOp {
    /// The target whose machine computes it.
    machine: Attribute<QUOTED>,
    /// Options that all passes on layers obey.
    options: OptAttribute<DICT>,
    /// Choices for the program.
    choices: OptAttribute<ARRAY>,
    /// Values that the rest of the function reads.
    results: OpResults<TENSOR>,
    /// Layers, and ops that only rename elements, such as reshapes.
    body: Region,
}

/// Ops that a machine computes as one layer: what is between them is never a tensor in a memory.
///
/// `by` has the choices for it, one for each loop of the machine: a convolution of groups has one for each group, a product of elements
/// one for itself and for each copy into its layout.
///
/// ```mlir
/// %y = layer.program "cluster" -> tensor<1x16x8x8xf32> {
///   %0 = layer.fused "sigmoid1+relu1" -> tensor<1x16x8x8xf32> {
///     %a = graph.sigmoid %x : tensor<1x16x8x8xf32>
///     %b = graph.relu %a : tensor<1x16x8x8xf32>
///     layer.yield %b : tensor<1x16x8x8xf32>
///   }
///   layer.yield %0 : tensor<1x16x8x8xf32>
/// }
/// ```
#[op(
    "layer.fused",
    traits = Traits::SINGLE_BLOCK,
    effects = Effects::Recursive,
    parents = &["layer.program"],
    implicit_terminator = "layer.yield",
    format = "($name^)? (`by` $choices^)? (`->` type($results)^)? $body attr-dict",
    verify_regions = |m, op| verify_body(m, op, FusedOp(op).body(m)),
    edges = |_, _| smallvec![Edge::new(Point::Op, Point::Region(0)), Edge::new(Point::Region(0), Point::Op)],
    control = control
)]
pub struct FusedOp {
    /// Names of the sources of the ops.
    name: OptAttribute<QUOTED>,
    /// Choices.
    choices: OptAttribute<ARRAY>,
    /// Values that other layers read.
    results: OpResults<TENSOR>,
    /// Ops.
    body: Region,
}

/// The steps of a program in order, as ops of the machine's dialect, which `schedule-layers` writes.
///
/// It computes nothing: the meaning of the program is that of its layers. `convert-layers-to-programs` follows it, or refuses it with a rule.
#[op(
    "layer.schedule",
    traits = Traits::SINGLE_BLOCK.and(Traits::NO_TERMINATOR),
    effects = Effects::Unknown,
    parents = &["layer.program"],
    format = "$body attr-dict",
    edges = |_, _| smallvec![],
    control = |_, _, _| Ok(Next::Done(Vec::new()))
)]
pub struct ScheduleOp {
    /// Steps.
    body: Region,
}

/// Yields the results of a program or layer.
#[op(
    "layer.yield",
    traits = Traits::TERMINATOR.and(Traits::RETURN_LIKE),
    parents = &["layer.program", "layer.fused"],
    format = "attr-dict ($results^ `:` type($results))?"
)]
pub struct LayerYieldOp {
    /// Tensors.
    results: Operands<TENSOR>,
}

/// Returns the values that the body of a `layer.program` or `layer.fused` yields.
pub fn yielded(m: &Module, op: Op) -> &[Value] {
    let block = m.regions(op).first().and_then(|&region| m.entry(region));
    block.and_then(|block| m.last_op(block)).map_or(&[], |end| m.operands(end))
}

fn verify_body(m: &Module, op: Op, body: gradus_ir::Region) -> Result<(), Violation> {
    let block = m.entry(body).ok_or("requires a region with a block")?;
    if !m.block_args(block).is_empty() {
        return Err("requires a region without arguments".into());
    }
    let types = |values: &mut dyn Iterator<Item = Value>| values.map(|v| m.value_type(v)).collect::<Vec<_>>();
    let (yielded, results) = (types(&mut yielded(m, op).iter().copied()), types(&mut m.results(op)));
    if yielded != results {
        return Err("requires results of the types that its region yields".into());
    }
    Ok(())
}

fn control(_: &OpArgs<'_>, _: &[Datum], event: Event<'_>) -> Result<Next, Trap> {
    Ok(match event {
        Event::Enter => Next::Region(0, Vec::new()),
        Event::Left { yielded, .. } => Next::Done(yielded.to_vec()),
    })
}

/// The dialect declaration.
pub const DIALECT: Dialect = Dialect {
    name: "layer",
    doc: "Programs of machines as layers of fused ops, with the choices for them.",
    ops: &[LayerProgramOp::INFO, FusedOp::INFO, ScheduleOp::INFO, LayerYieldOp::INFO],
    ..Dialect::DEFAULT
};
