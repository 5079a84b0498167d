//! Bands of rows of a feature that is too large for SRAM: the layers that write it compute each band just before it is read, with the rows
//! around it that windows read.

use super::network::{FeatureId, FeatureInfo, FeatureSum, Layer, PartOf, Role, Weights};
use super::read::Reader;
use gradus_ir::{Op, Value};
use std::ops::Range;

impl Reader<'_> {
    /// Takes the layers that write a value out of the network, if `user` alone reads it, and they can write bands of it.
    pub(super) fn take_writers(&mut self, value: Value, user: Op) -> Option<Vec<Layer>> {
        let (net, id) = (&self.out.net, self.views.get(&value)?.feature);
        let is_inside = |feature: FeatureId| net.root(feature) == id;
        let writes = |layer: &&Layer| is_inside(layer.output);
        let info = &net.features[id];
        let whole_rows = |layer: &Layer| {
            let (at, of) = (net.place(layer.output), &net.features[layer.output]);
            let is_whole = at == PartOf { channel: at.channel, ..PartOf::all(id) };
            is_whole && [of.height, of.width] == [info.height, info.width]
        };
        let takes_rows = |layer: &Layer| matches!(layer.weights, Weights::Constant(_) | Weights::Channels(_));
        let may_fuse = |layer: &Layer| layer.ops.iter().all(|&op| self.may_fuse(op, user));
        let is_read = net.layers.iter().flat_map(Layer::reads).any(is_inside);
        let mut values = self.views.iter().filter(|(_, view)| is_inside(view.feature));
        let is_private = info.role == Role::Inner && info.part_of.is_none() && !is_read;
        let are_private =
            values.all(|(&value, _)| self.m.has_one_use(value) && self.m.uses(value).all(|(op, _)| self.holds(op)));
        let mut writers = net.layers.iter().filter(writes).peekable();
        writers.peek()?;
        let can_divide = writers.all(|layer| whole_rows(layer) && takes_rows(layer) && may_fuse(layer));
        if !is_private || !are_private || !can_divide {
            return None;
        }
        // Concatenations of these results are computed together with the pool.
        let inside = self.views.iter().filter(|(_, view)| is_inside(view.feature)).map(|(&value, _)| value);
        let mut ops: Vec<Op> = inside.filter_map(|value| self.m.defining_op(value)).chain([user]).collect();
        ops.sort();
        let layers = std::mem::take(&mut self.out.net.layers);
        let (mut writers, others): (Vec<_>, Vec<_>) =
            layers.into_iter().partition(|layer| self.out.net.root(layer.output) == id);
        self.out.net.layers = others;
        for layer in &mut writers {
            let more: Vec<Op> = ops.iter().copied().filter(|op| !layer.ops.contains(op)).collect();
            layer.ops.extend(more);
        }
        Some(writers)
    }

    /// Adds the layers that write some rows of a feature. Returns the feature of these rows.
    pub(super) fn band(&mut self, writers: &[Layer], whole: FeatureId, rows: Range<usize>) -> FeatureId {
        let of_whole = self.out.net.features[whole].clone();
        self.out.net.features.push(FeatureInfo { height: rows.len(), part_of: None, ..of_whole });
        let band = self.out.net.features.len() - 1;
        for layer in writers {
            let (channel, info) = (self.out.net.place(layer.output).channel, &self.out.net.features[layer.output]);
            let extents = [rows.len(), info.width, info.channels];
            let output = self.boxed(PartOf { channel, ..PartOf::all(band) }, extents);
            let mut of_band = self.layer_of_rows(layer, &rows);
            of_band.output = output;
            self.out.net.layers.push(of_band);
        }
        band
    }

    /// A layer that computes some rows of the result of another one, without its output.
    fn layer_of_rows(&mut self, layer: &Layer, rows: &Range<usize>) -> Layer {
        let info = self.out.net.features[layer.input].clone();
        let begin = (rows.start * layer.stride[0]) as isize - layer.pad[0] as isize;
        let reach = (rows.len() - 1) * layer.stride[0] + (layer.kernel[0] - 1) * layer.dilation[0] + 1;
        let row = usize::try_from(begin).unwrap_or(0).min(info.height - 1);
        let end = (begin + reach as isize).clamp(row as isize + 1, info.height as isize) as usize;
        let input = self.boxed(PartOf { row, ..PartOf::all(layer.input) }, [end - row, info.width, info.channels]);
        let sum = layer.sum.map(|sum| {
            let other = self.out.net.features[sum.feature].clone();
            let is_repeated = other.height == 1;
            let part = PartOf { row: if is_repeated { 0 } else { rows.start }, ..PartOf::all(sum.feature) };
            let height = if is_repeated { 1 } else { rows.len() };
            let feature = self.boxed(part, [height, other.width, other.channels]);
            FeatureSum { feature, ..sum }
        });
        let pad = [begin.min(0).unsigned_abs(), layer.pad[1]];
        Layer { input, sum, pad, ..layer.clone() }
    }
}
