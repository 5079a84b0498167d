//! Matrix products, by a constant or of two features: a row of features is the pixels of one convolution, and the bytes of the other
//! operand are weights where they are.

use super::conv::{Kernels, LARGE_SUMS, OTHER_FACTORS, requantization};
use super::network::{FeatureId, Layer, PartOf, ProductSide, Role, Weights, gcd};
use super::read::{MAX_EXTENT, OTHER_ORDER, Reader, check_extents, extents, is_signed};
use super::scale::{self, ByteQuantization, MAX_SUM};
use super::view::{CHANNELS, COLUMNS, ChannelOrder, Digit, ROWS, View};
use crate::operands::{self, constant, taps_before_depth};
use gradus_ir::{DType, Op, OpDecl, Refusal, Value};
use gradus_networks::graph::{QLinearMatMulOp, TransposeOp};

/// A product of two features.
struct MatrixProduct {
    op: Op,
    /// The operands.
    operands: [View; 2],
    /// Their first rows and channels, one for each product of a batch.
    offsets: [Vec<[usize; 2]>; 2],
    quantizations: [ByteQuantization; 2],
    /// Rows, depth, columns.
    extents: [usize; 3],
    to: ByteQuantization,
}

impl MatrixProduct {
    /// The weights that an operand can be, if its depth is along its axis `axis`: `true` for columns as kernels.
    fn weights(&self, side: usize) -> Option<bool> {
        let [depth, kernels] = self.axes(side);
        let view = &self.operands[side];
        let [d, k] = [self.extents[1], self.extents[if side == 0 { 0 } else { 2 }]];
        let is_columns = view.is_axis(depth, CHANNELS, d) && view.is_axis(kernels, COLUMNS, k);
        let is_transposed = view.is_axis(depth, COLUMNS, d) && view.is_axis(kernels, CHANNELS, k);
        (is_columns || is_transposed).then_some(is_columns)
    }

    /// The axis of the depth of an operand, and the other one.
    fn axes(&self, side: usize) -> [usize; 2] {
        let rank = self.operands[side].axes.len();
        if side == 0 { [rank - 1, rank - 2] } else { [rank - 2, rank - 1] }
    }

    /// Steps of the array if an operand is the weights; `None` if that is not possible.
    fn steps(&self, side: usize, lanes: [usize; 2]) -> Option<usize> {
        self.weights(side)?;
        // The other one is the pixels, whose channels are the depth.
        self.weights(1 - side).filter(|&is_columns| is_columns)?;
        let [rows, _, columns] = self.extents;
        let [kernels, pixels] = if side == 0 { [rows, columns] } else { [columns, rows] };
        Some(kernels.div_ceil(lanes[0]) * pixels.div_ceil(lanes[1]))
    }
}

impl Reader<'_> {
    pub(super) fn matrix_product(&mut self, op: QLinearMatMulOp) -> Result<(), Refusal> {
        let (m, y) = (self.m, self.m.result(op.0, 0));
        let a = self.bytes(op.a_scale(m), op.a_zero_point(m), is_signed(m, op.a(m)))?;
        let to = self.bytes(op.y_scale(m), op.y_zero_point(m), is_signed(m, y))?;
        if m.constant(op.b(m)).is_some() {
            return self.by_constant(op, (a, to));
        }
        let b = self.bytes(op.b_scale(m), op.b_zero_point(m), is_signed(m, op.b(m)))?;
        let [left, right] = [extents(m, op.a(m))?, extents(m, op.b(m))?];
        let ([.., rows, depth], [.., _, columns]) = (&left[..], &right[..]) else {
            return Err("a product with a vector".into());
        };
        let operands = [
            self.view_of(op.a(m), Some(ChannelOrder::ChannelsLast))?,
            self.view_of(op.b(m), Some(ChannelOrder::ChannelsLast))?,
        ];
        let batches = [0, 1].map(|i| operands[i].offsets(0..operands[i].axes.len() - 2));
        let [Some(mut first), Some(mut second)] = batches else {
            return Err(self.blame(&[op.a(m)], Refusal::of(op.a(m), "a batch of products along the columns")));
        };
        if left[..left.len() - 2].iter().product::<usize>() == 1 {
            first = vec![first[0]; second.len()];
        }
        if right[..right.len() - 2].iter().product::<usize>() == 1 {
            second = vec![second[0]; first.len()];
        }
        let extents = [*rows, *depth, *columns];
        if (*depth as i64) * 255 * 255 >= MAX_SUM {
            return Err(LARGE_SUMS.into());
        }
        if first.len() * rows.max(columns) > MAX_EXTENT {
            return Err(
                Refusal::from("{} products of matrices with an extent of {}").with([first.len(), *rows.max(columns)])
            );
        }
        if first.len() != second.len() || left.len() != right.len() && first.len() != 1 {
            return Err(Refusal::from("batches of {} and {} matrices").with([first.len(), second.len()]));
        }
        let offsets = [first, second];
        let product = MatrixProduct { op: op.0, operands, offsets, quantizations: [a, b], extents, to };
        let machine = self.setting.machine;
        let lanes = [machine.kernels as usize, machine.positions as usize];
        let joins = self.joins_heads(y);
        let is_allowed = |&side: &usize| {
            let forced = self.side_of(product.op).is_none_or(|forced| forced == ProductSide::ALL[side]);
            (forced || joins) && (side == 1 || !joins)
        };
        let sides = [1, 0].into_iter().filter(is_allowed);
        let priced = sides.filter_map(|side| Some((product.steps(side, lanes)?, side))).min_by_key(|&(steps, _)| steps);
        match priced {
            Some((_, side)) => self.product(&product, side, y),
            None => Err(self.blame(&[op.a(m), op.b(m)], "operands of which neither can be weights".into())),
        }
    }

    /// A product by a constant matrix: a convolution of one tap.
    fn by_constant(
        &mut self,
        op: QLinearMatMulOp,
        (a, to): (ByteQuantization, ByteQuantization),
    ) -> Result<(), Refusal> {
        let (m, y) = (self.m, self.m.result(op.0, 0));
        let matrix = constant(m, op.b(m))?;
        let &[depth, kernels] = matrix.shape() else {
            return Err(Refusal::of(op.b(m), "a constant of {} axes").with([matrix.rank()]));
        };
        let view = self.view_of(op.a(m), Some(ChannelOrder::ChannelsLast))?;
        let last = view.axes.len().checked_sub(1).ok_or(Refusal::of(op.a(m), OTHER_ORDER))?;
        let extents = self.extents_of(&view);
        if !view.is_axis(last, CHANNELS, depth) || extents[2] != depth || extents[1] == 1 && last == 0 {
            return Err(self.blame(&[op.a(m)], Refusal::of(op.a(m), OTHER_ORDER)));
        }
        let zero = self.weight_zero(op.b_zero_point(m), depth)?;
        let signed = matrix.dtype() == DType::I8;
        if !signed && matrix.dtype() != DType::U8 {
            return Err(Refusal::of(op.b(m), "elements other than bytes"));
        }
        let bytes = taps_before_depth(matrix.bytes(), 1, [1, depth, kernels]);
        let scales = operands::requantization(m, [op.a_scale(m), op.b_scale(m), op.y_scale(m)])?;
        let from = Kernels { value: op.b(m), bytes: &bytes, signed, zero, scales: &scales, count: kernels };
        let requantization = requantization(&from, &[])?;
        let layer = Layer {
            depthwise: false,
            weights: Weights::Constant(bytes),
            signed_weights: signed,
            zeros: [a.zero, zero as i16],
            depth,
            kernels,
            requantization,
            zero: to.zero,
            signed: to.signed,
            ..self.identity(op.0, &view)
        };
        let mut axes = view.axes;
        axes[last] = digits(CHANNELS, kernels);
        self.add(layer, y, [extents[0], extents[1], kernels], axes)
    }

    /// The products of a batch, one layer each.
    fn product(&mut self, product: &MatrixProduct, side: usize, y: Value) -> Result<(), Refusal> {
        let [rows, depth, columns] = product.extents;
        let (count, [pixels, kernels]) =
            (product.offsets[0].len(), if side == 1 { [rows, columns] } else { [columns, rows] });
        let [input, weights] = [1 - side, side];
        let q = product.quantizations;
        let scale = q[1].scale * q[0].scale / product.to.scale;
        let requantization = vec![scale::requantization(0, f64::from(scale)).ok_or(OTHER_FACTORS)?];
        let (extents, axes, step) = self.batch(y, count, [pixels, kernels], side);
        check_extents(y, extents)?;
        let whole = self.feature(extents, is_signed(self.m, y), Role::Inner);
        // There are no weights for padded channels.
        self.out.net.features[whole].tile[1] = gcd(self.setting.machine.depth as usize, kernels);
        let is_columns = product.weights(side).ok_or(OTHER_ORDER)?;
        for i in 0..count {
            let part = |reader: &mut Self, side: usize, [width, channels]: [usize; 2]| {
                reader.part(product.operands[side].feature, product.offsets[side][i], [1, width, channels])
            };
            let x = part(self, input, [pixels, depth]);
            let w = part(self, weights, if is_columns { [kernels, depth] } else { [depth, kernels] });
            let output = self.part(whole, [i * step[0], i * step[1]], [1, pixels, kernels]);
            let layer = Layer {
                input: x,
                output,
                depthwise: false,
                weights: if is_columns { Weights::Columns(w) } else { Weights::Transposed(w) },
                signed_weights: q[weights].signed,
                zeros: [q[input].zero, q[weights].zero],
                depth,
                kernels,
                requantization: requantization.clone(),
                zero: product.to.zero,
                signed: product.to.signed,
                operand: Some(ProductSide::ALL[side]),
                ..Layer::copy(vec![product.op], x, output, kernels, product.to.signed)
            };
            self.out.net.layers.push(layer);
        }
        self.views.insert(y, View { feature: whole, axes });
        Ok(())
    }

    /// The feature of the products of a batch: its extents, the axes of the value, and the rows and channels from one product to the
    /// next.
    fn batch(
        &self,
        y: Value,
        count: usize,
        [pixels, kernels]: [usize; 2],
        side: usize,
    ) -> ([usize; 3], Vec<Vec<Digit>>, [usize; 2]) {
        let shape = extents(self.m, y).unwrap_or_default();
        let (joins, mut axes) = (self.joins_heads(y), Vec::new());
        let mut stride = if joins { count * kernels } else { count };
        for &extent in &shape[..shape.len() - 2] {
            stride /= extent;
            let axis = if joins { CHANNELS } else { ROWS };
            axes.push(if extent == 1 { Vec::new() } else { vec![Digit { axis, extent, stride }] });
        }
        let [rows, columns] =
            if side == 1 { [(COLUMNS, pixels), (CHANNELS, kernels)] } else { [(CHANNELS, kernels), (COLUMNS, pixels)] };
        axes.extend([rows, columns].map(|(axis, extent)| digits(axis, extent)));
        match joins {
            true => ([1, pixels, count * kernels], axes, [0, kernels]),
            false => ([count, pixels, kernels], axes, [1, 0]),
        }
    }

    /// Whether the only reader of products of a batch joins the columns of all: heads become channels.
    fn joins_heads(&self, y: Value) -> bool {
        let Some((user, _)) = self.m.uses(y).next().filter(|_| self.m.has_one_use(y)) else { return false };
        let perm = self.m.args(user).and_then(|args| args.ints("perm"));
        TransposeOp::cast(self.m, user).is_some() && perm.is_some_and(|perm| perm == [0, 2, 1, 3])
    }

    /// Rows and channels of a feature as a feature. Blocks of the whole become as small as its parts need.
    pub(super) fn part(
        &mut self,
        whole: FeatureId,
        [row, channel]: [usize; 2],
        [height, width, channels]: [usize; 3],
    ) -> FeatureId {
        let info = &self.out.net.features[whole];
        if info.height == height && info.channels == channels {
            return whole;
        }
        self.boxed(PartOf { row, channel, ..PartOf::all(whole) }, [height, width, channels])
    }
}

fn digits(axis: usize, extent: usize) -> Vec<Digit> {
    if extent == 1 { Vec::new() } else { vec![Digit { axis, extent, stride: 1 }] }
}
