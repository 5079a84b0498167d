//! Images as matrices of patches.

use super::terms::elements;
use crate::emit::Emitter;
use gradus_ir::Value;
use gradus_reference_kernels::shape::Window;

/// An image `[N, C, D...]` whose patches become columns.
pub(super) struct PatchedImage {
    pub value: Value,
    /// Value of padding, a scalar; zero without it.
    pub pad: Option<Value>,
    pub batch: usize,
    pub channels: usize,
    pub window: Window,
}

impl PatchedImage {
    /// Returns the number of taps of a filter, for a channel.
    pub fn taps(&self) -> usize {
        self.window.kernel.iter().product()
    }

    /// Returns the number of output positions of an image.
    pub fn positions(&self) -> usize {
        self.window.output.iter().product()
    }

    /// Whether the matrix of patches has the elements of the image, in their order.
    fn is_matrix(&self) -> bool {
        let is_whole = self.positions() == 1 && !self.window.is_padded() && self.window.kernel == self.window.input;
        self.batch == 1 && (is_whole || self.window.is_pointwise())
    }

    /// Returns the number of elements that the host moves to make the matrix of patches: it pads, slices and concatenates, and puts the
    /// images of a batch beside each other.
    pub fn moved(&self) -> u64 {
        if self.is_matrix() {
            return 0;
        }
        let matrix = elements([self.batch, self.channels, self.taps(), self.positions()]);
        let Window { input, pads_begin, pads_end, .. } = &self.window;
        let padded = input.iter().zip(pads_begin).zip(pads_end).map(|((d, begin), end)| d + begin + end);
        let image = elements([self.batch, self.channels].into_iter().chain(padded));
        let padding = if self.window.is_padded() { image } else { 0 };
        let copies = 1 + u64::from(self.taps() > 1) + u64::from(self.batch > 1);
        padding.saturating_add(matrix.saturating_mul(copies))
    }

    /// Emits the matrix of patches, `[C * taps, N * positions]`.
    pub fn matrix(&self, e: &mut Emitter<'_, '_>) -> Option<Value> {
        let (taps, positions) = (self.taps() as i64, self.positions() as i64);
        let matrix = [self.channels as i64 * taps, self.batch as i64 * positions];
        if self.is_matrix() {
            return e.reshape(self.value, &matrix);
        }
        let padded = self.padded(e)?;
        let each = [self.batch as i64, self.channels as i64, 1, positions];
        let mut parts = Vec::new();
        for tap in 0..self.taps() {
            let part = self.tap(e, padded, tap)?;
            parts.push(e.reshape(part, &each)?);
        }
        let patches = e.concat(&parts, 2)?;
        let patches = if self.batch == 1 { patches } else { e.permute(patches, &[1, 2, 0, 3])? };
        e.reshape(patches, &matrix)
    }

    fn padded(&self, e: &mut Emitter<'_, '_>) -> Option<Value> {
        if !self.window.is_padded() {
            return Some(self.value);
        }
        let signed = |list: &[usize]| list.iter().map(|&n| n as i64).collect::<Vec<i64>>();
        let pads = [&[0, 0], &signed(&self.window.pads_begin)[..], &[0, 0], &signed(&self.window.pads_end)].concat();
        e.pad(self.value, &pads, self.pad)
    }

    /// Emits the elements that a tap reads, `[N, C, O...]`.
    fn tap(&self, e: &mut Emitter<'_, '_>, image: Value, tap: usize) -> Option<Value> {
        let window = &self.window;
        let (mut starts, mut rest) = (vec![0; window.kernel.len()], tap);
        for axis in (0..starts.len()).rev() {
            starts[axis] = (rest % window.kernel[axis] * window.dilations[axis]) as i64;
            rest /= window.kernel[axis];
        }
        let steps: Vec<i64> = window.strides.iter().map(|&s| s as i64).collect();
        let ends =
            starts.iter().zip(&window.output).zip(&steps).map(|((start, &n), step)| start + (n as i64 - 1) * step + 1);
        let ends = [self.batch as i64, self.channels as i64].into_iter().chain(ends).collect::<Vec<i64>>();
        e.slice_from(image, &[&[0, 0], &starts[..]].concat(), &ends, &[&[1, 1], &steps[..]].concat())
    }
}
