//! `choose-layouts`: assigns layouts to the images of a network at least total cost.
//!
//! | file | contents |
//! |---|---|
//! | `forms.rs` | ops with a form for each layout, and their costs |
//! | `network.rs` | the ops of a block as a network |
//! | `cut.rs` | minimum cuts |

mod cut;
mod forms;
mod network;

use crate::layout::{PackOp, TiledLayout, UnpackOp};
use forms::TargetPrices;
use gradus_cost::{CostError, CostModel};
use gradus_ir::pass::{FloatChange, OptionKind, PassOption, Rewrites};
use gradus_ir::{
    Block, Builder, Diagnostic, InsertPoint, Module, Op, OpDecl, OpInfo, OpState, Pass, PassContext, PassInfo, Traits,
    Type, Value,
};
use network::{Assignment, assign};

/// The declaration of the pass.
pub const INFO: PassInfo = PassInfo {
    name: "choose-layouts",
    doc: "Choose the layouts of images by the cost of the whole network

# Before / After

```mlir
%0 = sparse.conv %x, %w : (tensor<1x8x9x9xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x9x9xf32>
%1 = graph.conv %0, %v {group = 8 : i64} : (tensor<1x8x9x9xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x7x7xf32>   // becomes:
%2 = sparse.conv %1, %u : (tensor<1x8x7x7xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x7x7xf32>

%1 = graph.conv %0, %v {group = 8 : i64, layout.images = #layout.tiled<\"NCHW\">} : (...) -> tensor<1x8x7x7xf32>
```

# Does

Generated code of a sparse convolution reads and writes images with channels first, a dense convolution with channels last. A pool, a
convolution of few channels or filters, and a depthwise one beside sparse ones or alone have a form for either: with channels first they get the
attribute `layout.images`. Elementwise ops and ops that move elements along axes take the layout of their operands; all others need channels first.

The pass assigns a layout to each op, and with it the form of each convolution whose filters are mostly zeros, `sparse.conv` or
`graph.conv`, at the least sum of the costs of ops and of the layout changes of values. A value is changed once for all of its readers. With
two layouts the optimum is a minimum cut. Where a value is changed before ops without a layout of their own, `layout.pack` and
`layout.unpack` are inserted, which `propagate-layouts` moves.

# Refuses

A block without an op that has a form for either layout is unchanged.

# Cost

A minimum cut of a network with a node per op and two per value with several readers.",
    options: &[PassOption {
        name: "target",
        doc: "Cost model: a target, see 'saturate'",
        kind: OptionKind::Text("cpu"),
    }],
    statistics: &[
        ("num-forms", "Number of convolutions with another form"),
        ("num-changes", "Number of layout changes inserted"),
    ],
    rewrites: Rewrites::Tags(&["change", "form"]),
    samples: &[
        ("target", CostModel::names),
    ],
    floats: |_| FloatChange::Reorders,
    make: |options| Ok(Box::new(ChooseLayouts { target: options.text("target").to_owned() })),
    ..PassInfo::DEFAULT
};

struct ChooseLayouts {
    target: String,
}

impl Pass for ChooseLayouts {
    fn run(&mut self, m: &mut Module, root: Op, cx: &mut PassContext<'_>) -> Result<(), Diagnostic> {
        let error = |error: CostError| Diagnostic::error(m.loc(root), error.to_string());
        let model = CostModel::named(&m.ctx, &self.target).map_err(error)?;
        let costs =
            TargetPrices { ops: model.cost_fn(&m.ctx).map_err(error)?, price: model.price(&m.ctx).map_err(error)? };
        let isolated = |&op: &Op| m.has_trait(op, Traits::ISOLATED);
        let regions = m.ops_under(root).into_iter().filter(isolated).flat_map(|op| m.regions(op).to_vec());
        let blocks: Vec<Block> = regions.flat_map(|region| m.region_blocks(region).collect::<Vec<_>>()).collect();
        for block in blocks {
            if let Some(assignment) = assign(m, block, &costs) {
                apply(m, &assignment, cx);
            }
        }
        Ok(())
    }
}

/// Inserts layout changes and gives ops their forms.
fn apply(m: &mut Module, Assignment { ops, changes }: &Assignment, cx: &mut PassContext<'_>) {
    for (value, readers) in changes {
        let at = m.defining_op(*value).or(readers.first().copied());
        if at.is_some_and(|at| cx.allows("change", m, at)) && change(m, *value, readers).is_some() {
            cx.count("num-changes", 1);
        }
    }
    for &(op, is_first, ref form) in ops {
        if form.differs(m, op, is_first) && cx.allows("form", m, op) && form.apply(m, op, is_first).is_some() {
            cx.count("num-forms", 1);
        }
    }
}

/// Changes a value to channels last and back, for some of its readers.
fn change(m: &mut Module, value: Value, readers: &[Op]) -> Option<()> {
    let ty = m.value_type(value);
    let extents = m.ctx.static_shape(ty)?;
    let &letters = ["NCW", "NCHW", "NCDHW"].get(extents.len().checked_sub(3)?)?;
    let last: TiledLayout = format!("N{}C", &letters[2..]).parse().ok()?;
    let packed = m.ctx.tensor_type(&last.extents(letters, extents).ok()?, m.ctx.element_type(ty));
    let relayout = |m: &mut Module, info: &OpInfo, x: Value, ty: Type| {
        let mut state =
            OpState::new(&m.ctx, info.name, m.defining_op(value).map_or_else(|| m.loc(readers[0]), |op| m.loc(op)));
        state.operands.push(x);
        state.inherent(&m.ctx, "layout", Some(last.to_attr(&m.ctx)));
        state.inherent(&m.ctx, "axes", Some(m.ctx.string_attr(letters)));
        state.result_types.push(ty);
        let at = InsertPoint::after_value(m, x);
        let op = Builder::at(m, at).try_create(state).ok()?;
        Some(m.result(op, 0))
    };
    let there = relayout(m, PackOp::INFO, value, packed)?;
    let back = relayout(m, UnpackOp::INFO, there, ty)?;
    for &reader in readers {
        for i in 0..m.operands(reader).len() {
            if m.operands(reader)[i] == value {
                m.set_operand(reader, i, back);
            }
        }
    }
    Some(())
}
