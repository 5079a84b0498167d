//! Convolutions, and the requantization of sums of products.

use super::network::{Layer, PartOf, Requantization, Role, Weights};
use super::read::{MAX_EXTENT, Packing, Reader, extents, is_signed};
use super::scale::{self, ByteQuantization, MAX_SUM};
use super::view::{ChannelOrder, Digit, ROWS, View};
use crate::operands::{self, constant, integers, taps_before_depth, window_of_image};
use gradus_ir::{DType, Refusal, Value};
use gradus_networks::graph::{QLinearConvOp, convolution};

/// The most groups of a convolution, which are layers each.
const MAX_GROUPS: usize = 64;

/// The weights of a product, by kernels.
pub struct Kernels<'a> {
    /// The operand of which they are.
    pub value: Value,
    /// Their bytes, all of a kernel together.
    pub bytes: &'a [u8],
    /// Whether bytes are signed.
    pub signed: bool,
    /// Their zero point.
    pub zero: i64,
    /// The factors of the sums, one or one for each kernel.
    pub scales: &'a [f32],
    /// Number of kernels.
    pub count: usize,
}

impl Kernels<'_> {
    /// The sum of the absolute differences of bytes from the zero point.
    fn sum_of_sizes(&self, bytes: &[u8]) -> i64 {
        let zero = self.zero;
        match self.signed {
            true => bytes.iter().map(|&byte| (i64::from(byte.cast_signed()) - zero).abs()).sum(),
            false => bytes.iter().map(|&byte| (i64::from(byte) - zero).abs()).sum(),
        }
    }
}

impl Reader<'_> {
    /// The quantization of a tensor with one scale.
    pub(super) fn bytes(&self, scale: Value, zero: Value, signed: bool) -> Result<ByteQuantization, Refusal> {
        let (scale, zero) = operands::quantization(self.m, [scale, zero])?;
        Ok(ByteQuantization { scale, zero: zero as i16, signed })
    }

    /// The zero point of weights, the same for all kernels, of a number of products each.
    pub(super) fn weight_zero(&self, value: Value, products: usize) -> Result<i64, Refusal> {
        let (zero, bits) = (operands::common_zero_point(self.m, value)?, self.setting.machine.weight_bits);
        // A tap of its own subtracts it from a sum without it.
        let fits = zero == 0 || bits == 9 || products as i64 * 255 * 255 < MAX_SUM;
        fits.then_some(zero).ok_or(Refusal::of(value, ZERO_OF_WEIGHTS).with([bits as usize]))
    }

    pub(super) fn conv(&mut self, conv: QLinearConvOp) -> Result<(), Refusal> {
        let m = self.m;
        if m.constant(conv.w(m)).is_none() {
            return self.product_by_conv(conv);
        }
        let (group, window) = convolution(m, conv.0).map_err(|_| NO_WINDOW)?;
        let (x, w, y) = (conv.x(m), conv.w(m), m.result(conv.0, 0));
        let weights = constant(m, w)?;
        let view = self.ordered(x, ChannelOrder::ChannelsFirst)?;
        let images = if window.is_pointwise() { 1 } else { self.images(x)? };
        let [_, _, channels] = self.extents_of(&view);
        let (to_extents, axes) = self.ordered_extents(y, ChannelOrder::ChannelsFirst)?;
        let kernels = to_extents[2];
        let depthwise = group > 1 && group == channels && kernels == channels;
        let w_zero = self.weight_zero(conv.w_zero_point(m), weights.len() / kernels.max(1))?;
        // Instructions have fields of 16 bits for these.
        let [kernel, stride, dilation, pad] = window_of_image(&window, MAX_EXTENT)?;
        let input = self.bytes(conv.x_scale(m), conv.x_zero_point(m), is_signed(m, x))?;
        let to = self.bytes(conv.y_scale(m), conv.y_zero_point(m), is_signed(m, y))?;
        let bias = conv.b(m).map_or(Ok(Vec::new()), |b| integers(m, b))?;
        let scales = operands::requantization(m, [conv.x_scale(m), conv.w_scale(m), conv.y_scale(m)])?;
        let (bytes, signed) = (weights.bytes(), weights.dtype() == DType::I8);
        let from = Kernels { value: w, bytes, signed, zero: w_zero, scales: &scales, count: kernels };
        let taps = kernel.iter().product::<usize>();
        let depth = bytes.len() / (kernels * taps).max(1);
        let layer = Layer {
            ops: vec![conv.0],
            operand: None,
            input: view.feature,
            output: 0,
            depthwise,
            signed_weights: signed,
            zeros: [input.zero, w_zero as i16],
            depth: if depthwise { 1 } else { channels },
            kernels,
            kernel,
            stride,
            dilation,
            pad,
            folded: 0,
            weights: Weights::Constant(taps_before_depth(bytes, 1, [kernels, depth, taps])),
            requantization: requantization(&from, &bias)?,
            zero: to.zero,
            signed: to.signed,
            sum: None,
            table: Vec::new(),
        };
        let group = if depthwise { 1 } else { group };
        if images * group > 1 {
            return self.divided(&layer, [images, group], y, (to_extents, axes));
        }
        let layer = self.fold(layer, x, to_extents[1]);
        self.add(layer, y, to_extents, axes)
    }

    /// Number of images that windows must not mix. Those of a batch are rows of a feature, if they do not have one pixel; the rows of a
    /// window of one axis are images.
    pub(super) fn images(&self, x: Value) -> Result<usize, Refusal> {
        let shape = extents(self.m, x)?;
        let is_by_rows = ChannelOrder::ChannelsFirst.axes(&shape).is_some_and(|axes| axes[0] == ROWS);
        match shape[..] {
            [1, ..] => Ok(1),
            [images, ..] if !is_by_rows => {
                Err(Refusal::of(x, "a batch of {} images of one pixel whose windows have several taps").with([images]))
            }
            [images, _, _, _] => Ok(images),
            _ => Ok(1),
        }
    }

    /// A convolution of images and groups of channels, a layer each, of which `all` has the kernels of all.
    fn divided(
        &mut self,
        all: &Layer,
        [images, group]: [usize; 2],
        y: Value,
        (to, axes): ([usize; 3], Vec<Vec<Digit>>),
    ) -> Result<(), Refusal> {
        let Weights::Constant(bytes) = &all.weights else { return Err("groups of computed weights".into()) };
        if group > MAX_GROUPS {
            return Err(Refusal::of_attr("group", "{} groups, more than {}").with([group, MAX_GROUPS]));
        }
        let info = &self.out.net.features[all.input];
        let ([height, width, channels], tile) = ([info.height / images, info.width, info.channels], info.tile);
        if !channels.is_multiple_of(group) || !all.kernels.is_multiple_of(group) {
            return Err(Refusal::of_attr("group", "groups that do not divide the channels"));
        }
        let [depth, kernels, rows] = [channels / group, all.kernels / group, to[0] / images];
        let whole = self.feature(to, is_signed(self.m, y), Role::Inner);
        if all.depthwise {
            self.out.net.features[whole].tile = tile;
        }
        for (image, i) in (0..images).flat_map(|image| (0..group).map(move |i| (image, i))) {
            let part = |whole, row, channel| PartOf { row, channel, ..PartOf::all(whole) };
            let input = self.boxed(part(all.input, image * height, i * depth), [height, width, depth]);
            let output = self.boxed(part(whole, image * rows, i * kernels), [rows, to[1], kernels]);
            let range = i * kernels..(i + 1) * kernels;
            let of_kernel = bytes.len() / all.kernels;
            let weights = Weights::Constant(bytes[range.start * of_kernel..range.end * of_kernel].to_vec());
            let requantization = if all.requantization.len() > 1 {
                all.requantization[range].to_vec()
            } else {
                all.requantization.clone()
            };
            let depth = if all.depthwise { 1 } else { depth };
            let layer = Layer { input, output, depth, kernels, weights, requantization, ..all.clone() };
            self.out.net.layers.push(layer);
        }
        self.views.insert(y, View { feature: whole, axes });
        Ok(())
    }

    /// Folds the columns of a kernel into its depth, if the layer alone reads an operand whose channels do not fill the array: the
    /// bytes of neighbouring columns are consecutive in a layout of rows.
    fn fold(&mut self, layer: Layer, x: Value, width: usize) -> Layer {
        let info = &self.out.net.features[layer.input];
        let [columns, channels] = [info.width, info.channels];
        let is_alone = matches!(info.role, Role::Operand(_)) && self.m.has_one_use(x);
        let few = channels < self.setting.machine.depth as usize && layer.kernel[1] > 1 && layer.dilation[1] == 1;
        if !is_alone || !few || layer.depthwise {
            return layer;
        }
        let before = layer.pad[1];
        let all = (before + columns).max((width - 1) * layer.stride[1] + layer.kernel[1]);
        let pads = [before, all - before - columns];
        let packing = Packing::Rows { pads, zero: layer.zeros[0] };
        self.out.operands.iter_mut().filter(|(_, id, _)| *id == layer.input).for_each(|operand| operand.2 = packing);
        let padding = channels.next_multiple_of(self.setting.machine.depth as usize) - channels;
        self.out.net.unfolded += self.out.net.features[layer.input].height * columns * padding;
        let info = &mut self.out.net.features[layer.input];
        (info.width, info.channels, info.tile) = (1, all * channels, [1, 1]);
        Layer {
            depth: layer.kernel[1] * channels,
            folded: layer.stride[1] * channels,
            kernel: [layer.kernel[0], 1],
            stride: [layer.stride[0], 1],
            dilation: [layer.dilation[0], 1],
            pad: [layer.pad[0], 0],
            ..layer
        }
    }
}

/// The rule of convolutions without a window.
pub(super) const NO_WINDOW: &str = "a window that its operands do not have";
/// The rule of zero points that the weights of the machine have no bits for.
const ZERO_OF_WEIGHTS: &str = "a zero point of weights of {} bits, and sums that are too large without it";
/// The rule of sums that a factor would not scale exactly.
pub(super) const LARGE_SUMS: &str = "sums that may exceed 2^29";
/// The rule of factors that the machine has no bits for.
pub(super) const OTHER_FACTORS: &str = "a scale that the factors of the machine do not reach";

/// Returns the requantization of each kernel, of integer factors that reproduce the bytes of the reference.
pub fn requantization(kernels: &Kernels<'_>, bias: &[i64]) -> Result<Vec<Requantization>, Refusal> {
    let Kernels { bytes, scales, count, .. } = *kernels;
    if ![1, count].contains(&scales.len()) {
        return Err(Refusal::of(kernels.value, "{} scales of {} kernels").with([scales.len(), count]));
    }
    let one = |k: usize| {
        let scale = scales[if scales.len() == 1 { 0 } else { k }];
        let bias = bias.get(k).copied().unwrap_or(0);
        let row = &bytes[k * bytes.len() / count..(k + 1) * bytes.len() / count];
        let most = 255 * kernels.sum_of_sizes(row) + bias.abs();
        let bias = i32::try_from(bias).ok().filter(|_| most < MAX_SUM);
        let bias = bias.ok_or(Refusal::of(kernels.value, LARGE_SUMS))?;
        scale::requantization(bias, f64::from(scale)).ok_or(Refusal::from(OTHER_FACTORS))
    };
    let all: Vec<Requantization> = (0..count).map(one).collect::<Result<_, _>>()?;
    Ok(if all.iter().all(|one| *one == all[0]) { vec![all[0]] } else { all })
}
