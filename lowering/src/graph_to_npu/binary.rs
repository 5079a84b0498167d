//! Sums, products and tables of quantized tensors.

use super::conv::{NO_WINDOW, OTHER_FACTORS};
use super::network::{FeatureSum, Layer, ProductSide, Requantization, Role, Weights};
use super::read::{NO_AXIS, OTHER_AXES, Reader, extents, is_signed};
use super::scale::{self, ByteQuantization};
use super::shape::TABLE;
use super::view::{CHANNELS, ChannelOrder, View};
use crate::operands::{self, constant};
use gradus_ir::{DType, Op, OpDecl, Refusal, Value};
use gradus_networks::graph::{QLinearConvOp, QLinearMulOp, TableOp, convolution};

/// A binary op.
struct Binary {
    op: Op,
    y: Value,
    /// The operands; a constant has no view.
    operands: [(Value, Option<View>, ByteQuantization); 2],
    to: ByteQuantization,
    /// The view of the operand that has the extents of the result.
    like: View,
    /// The extents of the result's feature.
    extents: [usize; 3],
}

/// The bytes of a constant operand: the extents of its feature, some of them 1, and the bytes `[H, W, C]`.
type Spread = ([usize; 3], Vec<u8>);

impl Reader<'_> {
    pub(super) fn binary(&mut self, op: Op) -> Result<(), Refusal> {
        let m = self.m;
        let &[a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero] = m.operands(op) else {
            return Err("no quantization".into());
        };
        let y = m.result(op, 0);
        let parameters = [(a, a_scale, a_zero), (b, b_scale, b_zero), (y, c_scale, c_zero)];
        let [qa, qb, to] = parameters.map(|(value, scale, zero)| self.bytes(scale, zero, is_signed(m, value)));
        let (qa, qb, to) = (qa?, qb?, to?);
        let shape = extents(m, y)?;
        let mut views = [None, None];
        // The operand of the result's extents first, whose order the other one follows.
        let is_like = |value: Value| m.constant(value).is_none() && extents(m, value).as_ref() == Ok(&shape);
        let known = |reader: &Self, value: Value| reader.views.contains_key(&value);
        let values = [a, b];
        let first = [0, 1].into_iter().filter(|&i| is_like(values[i])).max_by_key(|&i| known(self, values[i]));
        let first = first.ok_or("operands of which none has the extents of the result")?;
        let other = values[1 - first];
        // A vector has the channels of tokens.
        let is_of_tokens = shape.len() == 3 && extents(m, other).is_ok_and(|of| of.len() == 1 && of[..] == shape[2..]);
        let order = is_of_tokens.then_some(ChannelOrder::ChannelsLast);
        let like = self.view_of(values[first], order)?;
        views[first] = Some(like.clone());
        if m.constant(other).is_none() {
            let view = self.view_like(other, &like);
            views[1 - first] = Some(view.map_err(|refusal| self.blame(&[other, values[first]], refusal))?);
        }
        let [x, z] = views;
        let extents = self.extents_of(&like);
        let binary = Binary { op, y, operands: [(a, x, qa), (b, z, qb)], to, like, extents };
        if QLinearMulOp::cast(m, op).is_none() {
            return self.sum_of(binary);
        }
        let requantization = self.fit(op, scale::product(&qa, &qb, &to).ok_or(OTHER_FACTORS)?)?;
        self.product_of(binary, requantization)
    }

    /// A convolution of an image by kernels that are computed: one number for each of its channels.
    pub(super) fn product_by_conv(&mut self, conv: QLinearConvOp) -> Result<(), Refusal> {
        let m = self.m;
        let (x, w, y) = (conv.x(m), conv.w(m), m.result(conv.0, 0));
        let (group, window) = convolution(m, conv.0).map_err(|_| NO_WINDOW)?;
        let like = self.view_of(x, Some(ChannelOrder::ChannelsFirst))?;
        let (image, result) = (extents(m, x)?, extents(m, y)?);
        if !window.is_pointwise() || conv.b(m).is_some() || image != result || image.get(1) != Some(&group) {
            return Err(Refusal::of(w, "computed weights other than a number for each channel"));
        }
        let kernels = self.view_of_kernels(w)?;
        if !kernels.repeats_to(&like) {
            return Err(self.blame(&[w, x], Refusal::of(w, OTHER_AXES)));
        }
        let qx = self.bytes(conv.x_scale(m), conv.x_zero_point(m), is_signed(m, x))?;
        let qw = self.bytes(conv.w_scale(m), conv.w_zero_point(m), is_signed(m, w))?;
        let to = self.bytes(conv.y_scale(m), conv.y_zero_point(m), is_signed(m, y))?;
        let scales = operands::requantization(m, [conv.x_scale(m), conv.w_scale(m), conv.y_scale(m)])?;
        let requantization = match scales[..] {
            [scale] => scale::requantization(0, f64::from(scale)).ok_or(OTHER_FACTORS)?,
            _ => return Err(Refusal::of(w, "{} scales of computed weights").with([scales.len()])),
        };
        let extents = self.extents_of(&like);
        let operands = [(x, Some(like.clone()), qx), (w, Some(kernels), qw)];
        self.product_of(Binary { op: conv.0, y, operands, to, like, extents }, requantization)
    }

    /// A product: a depthwise convolution whose kernels are the other operand.
    fn product_of(&mut self, binary: Binary, requantization: Requantization) -> Result<(), Refusal> {
        let Binary { op, y, operands: [(a, x, qa), (b, z, qb)], to, like, extents } = binary;
        let of_channels = [1, 1, extents[2]];
        let is_like = |view: &Option<View>| view.as_ref().is_some_and(|v| v.axes == like.axes);
        // The operand that is the weights is the second of these.
        let mut sides = [(ProductSide::Left, a, x, qa), (ProductSide::Right, b, z, qb)];
        let is_free = sides.iter().all(|side| is_like(&side.2));
        if !is_like(&sides[0].2) || is_free && self.side_of(op) == Some(ProductSide::Left) {
            sides.reverse();
        }
        let [(_, _, Some(input), q_input), (side, value, weights, q_weights)] = sides else {
            return Err(Refusal::of(a, OTHER_AXES));
        };
        let weights = match weights {
            Some(view) if self.extents_of(&view) == of_channels => Weights::Channels(view.feature),
            Some(view) if view.axes == like.axes => Weights::Elements(view.feature),
            Some(_) => return Err(Refusal::of(value, OTHER_AXES)),
            None => {
                let (of, bytes) = self.spread(value, &like, y)?;
                if of == of_channels {
                    Weights::Constant(bytes)
                } else {
                    let full = repeated(&bytes, of, extents);
                    Weights::Elements(self.constant_feature(extents, full, q_weights.signed))
                }
            }
        };
        let (mut input, mut weights) = (input, weights);
        if let Weights::Elements(id) = &mut weights {
            // A line of elements is all bytes of a feature.
            input.feature = self.whole(op, input.feature);
            *id = self.whole(op, *id);
        }
        let layer = Layer {
            weights,
            operand: is_free.then_some(side),
            signed_weights: q_weights.signed,
            zeros: [q_input.zero, q_weights.zero],
            requantization: vec![requantization],
            zero: to.zero,
            signed: to.signed,
            ..self.identity(op, &input)
        };
        self.add(layer, y, self.extents_of(&input), input.axes)
    }

    /// A feature with memory of its own that has the bytes of another one, which may be a part.
    fn whole(&mut self, op: Op, id: usize) -> usize {
        let info = self.out.net.features[id].clone();
        if info.part_of.is_none() {
            return id;
        }
        let copy = self.feature([info.height, info.width, info.channels], info.signed, Role::Inner);
        let from = View { feature: id, axes: Vec::new() };
        let layer = Layer { output: copy, ..self.identity(op, &from) };
        self.out.net.layers.push(layer);
        copy
    }

    /// A sum, at the store of the operand that is computed last, or of the other one if that has other readers.
    fn sum_of(&mut self, binary: Binary) -> Result<(), Refusal> {
        let Binary { op, y, operands: [(a, x, qa), (b, z, qb)], to, like, extents } = binary;
        let is_like = |view: &Option<View>| view.as_ref().is_some_and(|v| v.axes == like.axes);
        let mut order = [(a, x.clone(), qa, b, z.clone(), qb), (b, z.clone(), qb, a, x.clone(), qa)];
        let last = |view: &Option<View>| view.as_ref().and_then(|view| self.last_layer(view));
        if !is_like(&x) || is_like(&z) && last(&z) > last(&x) {
            order.reverse();
        }
        let is_free = |l: &usize| self.out.net.layers[*l].table.is_empty() && self.out.net.layers[*l].sum.is_none();
        let takes = |l: &usize, other: &Option<View>| is_like(other) || !self.is_elements(*l);
        let fused = order
            .iter()
            .filter(|sum| is_like(&sum.1))
            .find_map(|sum| Some((self.fusible(sum.0, op).filter(is_free).filter(|l| takes(l, &sum.4))?, sum.clone())));
        let (_, from, qx, other, other_view, qo) =
            fused.as_ref().map_or_else(|| order[0].clone(), |(_, sum)| sum.clone());
        let from = from.ok_or(Refusal::of(other, OTHER_AXES))?;
        let fitted = scale::sum(&qx, &qo, &to).ok_or(OTHER_FACTORS)?;
        let spread = if other_view.is_none() { Some(self.spread(other, &like, y)?) } else { None };
        if let Some((of, bytes)) = spread.as_ref().filter(|(of, _)| fitted.steps > 0 && of[..2] == [1, 1]) {
            // No factors are exact, but for each channel there is a table.
            let value = |c: usize, q: i16| to.quantize(qx.real(q) + qo.real(qo.of_byte(bytes[c])));
            let table = (0..of[2]).flat_map(|c| (0..TABLE).map(move |i| value(c, qx.of_byte(i as u8)) as u8)).collect();
            let layer = fused.map(|(layer, _)| layer);
            return self.add_table(op, &from, layer, table, y);
        }
        let (scales, shift) = self.fit(op, fitted)?;
        let feature = match (other_view, spread) {
            (Some(view), _) => view.feature,
            (None, Some((of, bytes))) => self.constant_feature(of, bytes, qo.signed),
            (None, None) => return Err(Refusal::of(other, OTHER_AXES)),
        };
        let sum =
            Some(FeatureSum { feature, zeros: [qx.zero, qo.zero], scales, shift, zero: to.zero, signed: to.signed });
        match fused {
            Some((layer, _)) => {
                self.out.net.layers[layer].sum = sum;
                self.replace(layer, y, from.axes);
                Ok(())
            }
            None => {
                let layer = Layer { sum, ..self.identity(op, &from) };
                self.add(layer, y, extents, from.axes)
            }
        }
    }

    pub(super) fn table(&mut self, op: TableOp) -> Result<(), Refusal> {
        let m = self.m;
        let (x, y) = (op.x(m), m.result(op.0, 0));
        let values = constant(m, op.table(m))?;
        let by_channel = values.rank() == 2;
        let view = self.view_of(x, None)?;
        let channels = self.extents_of(&view)[2];
        let axis = m.args(op.0).and_then(|args| usize::try_from(args.int("axis")?).ok()).ok_or(NO_AXIS)?;
        if by_channel && !view.is_axis(axis, CHANNELS, channels) {
            let refusal = Refusal::of_attr("axis", "tables along another axis than that of the channels");
            return Err(self.blame(&[x], refusal));
        }
        // Entries begin with the least integer, those of the machine with 0.
        let flip = if is_signed(m, x) { TABLE / 2 } else { 0 };
        let bytes = values.bytes();
        let entry = |i: usize| bytes[i / TABLE * TABLE + ((i % TABLE) ^ flip)];
        let table: Vec<u8> = (0..bytes.len()).map(entry).collect();
        let layer = self.fusible(x, op.0).filter(|&layer| !by_channel || !self.is_elements(layer));
        self.add_table(op.0, &view, layer, table, y)
    }

    /// Adds a table to a layer, if it has none, or in a layer of its own.
    fn add_table(&mut self, op: Op, x: &View, layer: Option<usize>, table: Vec<u8>, y: Value) -> Result<(), Refusal> {
        match layer.filter(|&layer| self.out.net.layers[layer].table.is_empty()) {
            Some(layer) => {
                self.out.net.layers[layer].table = table;
                self.replace(layer, y, x.axes.clone());
                Ok(())
            }
            None => {
                let layer = Layer { table, ..self.identity(op, x) };
                self.add(layer, y, self.extents_of(x), x.axes.clone())
            }
        }
    }

    fn is_elements(&self, layer: usize) -> bool {
        matches!(self.out.net.layers[layer].weights, Weights::Elements(_))
    }

    /// Adds a constant feature.
    fn constant_feature(&mut self, of: [usize; 3], bytes: Vec<u8>, signed: bool) -> usize {
        self.out.net.constants.push(bytes);
        self.feature(of, signed, Role::Constant(self.out.net.constants.len() - 1))
    }

    /// The bytes of a constant as a feature, of one row or column where it is repeated along these.
    fn spread(&self, value: Value, like: &View, y: Value) -> Result<Spread, Refusal> {
        let (tensor, full) = (constant(self.m, value)?, self.extents_of(like));
        if !matches!(tensor.dtype(), DType::I8 | DType::U8) {
            return Err(Refusal::of(value, "elements other than bytes"));
        }
        let (own, shape) = (tensor.shape().to_vec(), extents(self.m, y)?);
        let more = shape.len().checked_sub(own.len()).ok_or(Refusal::of(value, OTHER_AXES))?;
        let varies = |axis: usize| {
            let of_axis = |i: &usize| like.axes[more + i].iter().any(|digit| digit.axis == axis);
            (0..own.len()).filter(|&i| own[i] > 1).any(|i| of_axis(&i))
        };
        let of = [0, 1, 2].map(|axis| if axis == CHANNELS || varies(axis) { full[axis] } else { 1 });
        let mut bytes = Vec::with_capacity(of.iter().product());
        for at in 0..of.iter().product::<usize>() {
            let place = [at / (of[1] * of[2]), at / of[2] % of[1], at % of[2]];
            let index = |digits: &[super::view::Digit]| {
                digits.iter().fold(0, |n, d| n * d.extent + place[d.axis] / d.stride % d.extent)
            };
            let offset = own.iter().enumerate().fold(0, |offset, (i, &extent)| {
                offset * extent + if extent > 1 { index(&like.axes[more + i]) } else { 0 }
            });
            bytes.push(*tensor.bytes().get(offset).ok_or(Refusal::of(value, OTHER_AXES))?);
        }
        Ok((of, bytes))
    }
}

/// Bytes of some extents, repeated along rows and columns.
fn repeated(bytes: &[u8], of: [usize; 3], to: [usize; 3]) -> Vec<u8> {
    let row = |h: usize| (0..to[1]).map(move |w| (h.min(of[0] - 1) * of[1] + w.min(of[1] - 1)) * of[2]);
    (0..to[0]).flat_map(row).flat_map(|at| bytes[at..at + of[2]].iter().copied()).collect()
}
