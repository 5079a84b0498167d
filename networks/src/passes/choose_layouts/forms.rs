//! The forms of ops in both layouts, and their costs.

use super::super::propagate_layouts::is_free;
use crate::graph::{self, ConvOp, POOLS, convolution};
use crate::layout::{IMAGES, TiledLayout, plane_letters};
use crate::sparse;
use gradus_cost::Price;
use gradus_ir::rules::CostFn;
use gradus_ir::{Attr, Builder, DType, Module, Op, OpDecl, OpInfo, OpState};

/// The prices of a target.
pub(super) struct TargetPrices {
    /// The costs of ops.
    pub ops: CostFn,
    /// The prices of cost descriptors.
    pub price: Price,
}

/// The costs of an op that has a form for each layout, at most [`MAX_COST`].
pub(super) struct LayoutForms {
    /// Costs with channels first and last.
    pub first: u64,
    pub last: u64,
    kind: FormKind,
}

/// The forms of an op.
enum FormKind {
    /// Generated code, with channels first, or a table-driven product.
    Sparse,
    /// A convolution or pool of planes, with this attribute for channels first.
    Planes(Attr),
}

/// The cost of a form that is not implemented.
const MAX_COST: u64 = 1 << 48;

/// Ops that read and write images with channels last.
const LAST: &[&OpInfo] =
    &[ConvOp::INFO, graph::ConvTransposeOp::INFO, graph::ConvIntegerOp::INFO, graph::QLinearConvOp::INFO];

impl LayoutForms {
    /// Returns the forms of an op, and their costs. A depthwise convolution of many channels has two in a block with sparse ones only, or if
    /// it would change the layout of its image and its result: the error of its prices exceeds the gain in others.
    pub(super) fn of(m: &mut Module, op: Op, costs: &TargetPrices, beside_sparse: bool) -> Option<LayoutForms> {
        let cost = |m: &Module, op: Op| costs.ops.of(m, op).min(MAX_COST);
        if m.is_one_of(op, POOLS) {
            let layout = static_pool(m, op)?;
            let [last, first] = LayoutForms::costs(m, op, layout, costs);
            return Some(LayoutForms { first, last, kind: FormKind::Planes(layout) });
        }
        let info = [ConvOp::INFO, sparse::ConvOp::INFO].into_iter().find(|info| m.is_one_of(op, &[info]))?;
        if sparse::suits_conv(m, op) {
            let is_sparse = std::ptr::eq(info, sparse::ConvOp::INFO);
            let other = other_form(m, op, if is_sparse { ConvOp::INFO } else { sparse::ConvOp::INFO })?;
            let [this, other_cost] = [op, other].map(|op| cost(m, op));
            m.erase_op(other);
            let [first, last] = if is_sparse { [this, other_cost] } else { [other_cost, this] };
            return Some(LayoutForms { first, last, kind: FormKind::Sparse });
        }
        let layout = channels_first(m, op, beside_sparse)?;
        let [last, first] = LayoutForms::costs(m, op, layout, costs);
        Some(LayoutForms { first, last, kind: FormKind::Planes(layout) })
    }

    /// Returns the costs of an op with channels last, and with channels first as the attribute says.
    fn costs(m: &mut Module, op: Op, layout: Attr, costs: &TargetPrices) -> [u64; 2] {
        let both = [None, Some(layout)].map(|images| {
            m.set_attr(op, IMAGES, images);
            costs.ops.of(m, op).min(MAX_COST)
        });
        m.set_attr(op, IMAGES, None);
        both
    }

    /// Whether an op without choice has channels last.
    pub(super) fn is_last(m: &Module, op: Op) -> bool {
        m.is_one_of(op, LAST) || m.is_one_of(op, POOLS)
    }

    /// Whether an op has another form than the one for a layout.
    pub(super) fn differs(&self, m: &Module, op: Op, is_first: bool) -> bool {
        match self.kind {
            FormKind::Sparse => is_first != sparse::ConvOp::cast(m, op).is_some(),
            FormKind::Planes(_) => is_first,
        }
    }

    /// Gives an op the form for a layout, which [differs](Form::differs) from the one that it has.
    pub(super) fn apply(&self, m: &mut Module, op: Op, is_first: bool) -> Option<()> {
        match self.kind {
            FormKind::Planes(layout) => m.set_attr(op, IMAGES, Some(layout)),
            FormKind::Sparse => {
                let info = if is_first { sparse::ConvOp::INFO } else { ConvOp::INFO };
                let other = other_form(m, op, info)?;
                let (old, new) = (m.result(op, 0), m.result(other, 0));
                m.replace_all_uses(old, new);
                m.erase_op(op);
            }
        }
        Some(())
    }
}

/// Creates a convolution with the operands and attributes of another before it.
fn other_form(m: &mut Module, op: Op, info: &OpInfo) -> Option<Op> {
    let mut state = OpState::with_operands_of(m, op);
    state.name = m.ctx.op_name(info.name);
    state.result_types.push(m.value_type(m.result(op, 0)));
    Builder::before(m, op).try_create(state).ok()
}

/// Returns the attribute for channels first of a pool of static shape without positions, on floats of at most 32 bits.
fn static_pool(m: &Module, op: Op) -> Option<Attr> {
    let ty = m.value_type(m.operands(op)[0]);
    let is_float = matches!(m.ctx.dtype(m.ctx.element_type(ty)), Some(DType::F32 | DType::F16 | DType::BF16));
    let extents = m.ctx.static_shape(ty).filter(|_| is_float && m.num_results(op) == 1)?;
    Some(plane_letters(extents.len())?.parse::<TiledLayout>().ok()?.to_attr(&m.ctx))
}

/// Maximum of the channels of a filter, of the filters of a group, or of the channels of a depthwise convolution, in the form with channels first.
const FEW: i64 = 16;
/// Minimum extent of rows in that form: its vectors hold neighbouring positions.
const LEAST_ROW: i64 = 12;

/// Whether neither the image of an op nor its result has channels last for another op, looking through one elementwise op behind it.
fn is_alone(m: &Module, op: Op) -> bool {
    let has_form = |op: Op| LayoutForms::is_last(m, op) || ConvOp::cast(m, op).is_some();
    let is_given = m.defining_op(m.operands(op)[0]).is_none_or(|from| !has_form(from) && !is_free(m, from));
    let ends = |user: Op| !has_form(user) && !is_free(m, user);
    let users = |op: Op| m.uses(m.result(op, 0)).map(|(user, _)| user);
    is_given && users(op).all(|user| ends(user) || is_free(m, user) && users(user).all(ends))
}

/// Returns the attribute of a convolution that has a form with channels first: a depthwise one, or one of few channels or filters.
fn channels_first(m: &Module, op: Op, beside_sparse: bool) -> Option<Attr> {
    let conv = ConvOp::cast(m, op)?;
    let extents = |v| m.ctx.static_shape(m.value_type(v));
    let (x, w) = (extents(conv.x(m))?, extents(conv.w(m))?);
    let (group, _) = convolution(m, op).ok()?;
    let letters = plane_letters(x.len())?;
    let is_depthwise = group > 1 && w[0] == x[1] && w[1] == 1 && x[1] == group as i64;
    let is_row = x.last().is_some_and(|&width| width >= LEAST_ROW);
    let is_few = is_row && if is_depthwise { x[1] <= FEW } else { w[1] <= FEW || w[0] / group as i64 <= FEW };
    let is_float = m.ctx.dtype(m.ctx.element_type(m.value_type(conv.x(m)))) == Some(DType::F32);
    m.constant(conv.w(m)).filter(|_| (is_depthwise && (beside_sparse || is_alone(m, op)) || is_few) && is_float)?;
    Some(letters.parse::<TiledLayout>().ok()?.to_attr(&m.ctx))
}
