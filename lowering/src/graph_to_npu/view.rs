//! Views: the axes of a tensor as digits of the rows, columns and channels of a feature, so that reshapes and transpositions move
//! nothing.

use super::network::FeatureId;

/// Rows, columns, channels, by number.
pub const ROWS: usize = 0;
/// Columns.
pub const COLUMNS: usize = 1;
/// Channels.
pub const CHANNELS: usize = 2;

/// A range of a mixed-radix digit of an index along an axis: `extent` steps of `stride` elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digit {
    /// The axis of the feature.
    pub axis: usize,
    /// Number of steps.
    pub extent: usize,
    /// Length of a step.
    pub stride: usize,
}

/// A tensor as a view of a feature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    /// The feature.
    pub feature: FeatureId,
    /// The digits of each axis of the tensor, the slowest first.
    pub axes: Vec<Vec<Digit>>,
}

/// Which axis of a tensor is the channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelOrder {
    /// The second, `[N, C, ...]`, as convolutions have it.
    ChannelsFirst,
    /// The last, as matrix products have it.
    ChannelsLast,
}

fn whole(axis: usize, extent: usize) -> Vec<Digit> {
    if extent == 1 { Vec::new() } else { vec![Digit { axis, extent, stride: 1 }] }
}

impl ChannelOrder {
    /// The axis of the feature for each axis of a tensor.
    pub fn axes(self, extents: &[usize]) -> Option<Vec<usize>> {
        Some(match (self, extents) {
            // The pixels of a batch of images of one pixel are the columns.
            (ChannelOrder::ChannelsFirst, [images, _, rest @ ..])
                if *images > 1 && rest.len() < 3 && rest.iter().all(|&n| n == 1) =>
            {
                [&[COLUMNS, CHANNELS][..], &[ROWS, ROWS][..rest.len()]].concat()
            }
            // The rows of the images of a batch follow each other.
            (ChannelOrder::ChannelsFirst, [_, _, _, _]) => vec![ROWS, CHANNELS, ROWS, COLUMNS],
            (ChannelOrder::ChannelsFirst, [_, _, _]) => vec![ROWS, CHANNELS, COLUMNS],
            (ChannelOrder::ChannelsFirst, [_, _]) => vec![COLUMNS, CHANNELS],
            (ChannelOrder::ChannelsLast, [_, _, _, _]) => vec![ROWS, ROWS, COLUMNS, CHANNELS],
            (ChannelOrder::ChannelsLast, [_, _, _]) => vec![ROWS, COLUMNS, CHANNELS],
            (ChannelOrder::ChannelsLast, [_, _]) => vec![COLUMNS, CHANNELS],
            (ChannelOrder::ChannelsLast, [_]) => vec![CHANNELS],
            _ => return None,
        })
    }

    /// The extents `[H, W, C]` of the feature of a tensor, and the digits of the tensor's axes.
    pub fn of(self, extents: &[usize]) -> Option<([usize; 3], Vec<Vec<Digit>>)> {
        let (axes, mut feature) = (self.axes(extents)?, [1; 3]);
        let mut digits = vec![Vec::new(); axes.len()];
        for (i, (&axis, &extent)) in axes.iter().zip(extents).enumerate().rev() {
            if extent > 1 {
                digits[i].push(Digit { axis, extent, stride: feature[axis] });
            }
            feature[axis] *= extent;
        }
        Some((feature, digits))
    }
}

/// Joins digits of the same axis that follow each other.
fn joined(digits: impl IntoIterator<Item = Digit>) -> Vec<Digit> {
    let mut out: Vec<Digit> = Vec::new();
    for digit in digits {
        match out.last_mut().filter(|last| last.axis == digit.axis && last.stride == digit.extent * digit.stride) {
            Some(last) => (last.extent, last.stride) = (last.extent * digit.extent, digit.stride),
            None => out.push(digit),
        }
    }
    out
}

/// Takes digits of an extent from the front of others; `None` if it divides one in another way.
fn take(digits: &mut Vec<Digit>, extent: usize) -> Option<Vec<Digit>> {
    let (mut out, mut left) = (Vec::new(), extent);
    while left > 1 {
        let first = digits.first_mut()?;
        if left.is_multiple_of(first.extent) {
            left /= first.extent;
            out.push(digits.remove(0));
        } else if first.extent.is_multiple_of(left) {
            first.extent /= left;
            out.push(Digit { extent: left, stride: first.stride * first.extent, ..*first });
            left = 1;
        } else {
            return None;
        }
    }
    Some(joined(out))
}

impl View {
    /// The view with permuted axes.
    pub fn transposed(&self, perm: &[usize]) -> Option<View> {
        let axes = perm.iter().map(|&i| self.axes.get(i).cloned()).collect::<Option<Vec<_>>>()?;
        Some(View { axes, ..*self })
    }

    /// The view with other extents.
    pub fn reshaped(&self, extents: &[usize]) -> Option<View> {
        let mut digits = joined(self.axes.iter().flatten().copied());
        let axes = extents.iter().map(|&extent| take(&mut digits, extent)).collect::<Option<Vec<_>>>()?;
        digits.is_empty().then_some(View { axes, ..*self })
    }

    /// The axis of the feature for each axis of a tensor that is an image, or tokens, of all of it; `None` of other views.
    pub fn natural_axes(&self, shape: &[usize]) -> Option<Vec<usize>> {
        let mut orders = [ChannelOrder::ChannelsFirst, ChannelOrder::ChannelsLast].into_iter();
        orders.find(|order| order.of(shape).is_some_and(|(_, axes)| axes == self.axes))?.axes(shape)
    }

    /// Whether an axis is an axis of the feature, of an extent.
    pub fn is_axis(&self, i: usize, axis: usize, extent: usize) -> bool {
        self.axes.get(i).is_some_and(|digits| *digits == whole(axis, extent))
    }

    /// Whether elements of this view are repeated along axes of extent 1 to give those of another one.
    pub fn repeats_to(&self, other: &View) -> bool {
        let Some(more) = other.axes.len().checked_sub(self.axes.len()) else { return false };
        self.axes.iter().zip(&other.axes[more..]).all(|(a, b)| a.is_empty() || a == b)
    }

    /// The first row and channel of each index of some axes; `None` if they are columns.
    pub fn offsets(&self, axes: std::ops::Range<usize>) -> Option<Vec<[usize; 2]>> {
        let mut all = vec![[0, 0]];
        for digit in self.axes[axes].iter().flatten() {
            let at = [ROWS, CHANNELS].iter().position(|&axis| axis == digit.axis)?;
            let step = |from: &[usize; 2], i: usize| {
                let mut to = *from;
                to[at] += i * digit.stride;
                to
            };
            all = all.iter().flat_map(|from| (0..digit.extent).map(move |i| step(from, i))).collect();
        }
        Some(all)
    }

    /// The digits by the order of the feature, and the place of each digit of the tensor among them.
    pub fn natural(&self) -> (Vec<usize>, Vec<usize>) {
        let digits: Vec<Digit> = self.axes.iter().flatten().copied().collect();
        let mut order: Vec<usize> = (0..digits.len()).collect();
        order.sort_by_key(|&i| (digits[i].axis, std::cmp::Reverse(digits[i].stride)));
        let place = |i: usize| order.iter().position(|&at| at == i).unwrap_or(0);
        (order.iter().map(|&i| digits[i].extent).collect(), (0..digits.len()).map(place).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Heads of a transformer: rows of tokens, of which each head has some of the channels.
    #[test]
    fn heads_are_channels() {
        let ([height, width, channels], axes) = ChannelOrder::ChannelsLast.of(&[1, 128, 768]).expect("it has an order");
        assert_eq!([height, width, channels], [1, 128, 768]);
        let tokens = View { feature: 0, axes };
        let heads = tokens.reshaped(&[1, 128, 12, 64]).and_then(|v| v.transposed(&[0, 2, 1, 3])).expect("it is a view");
        let first: Vec<[usize; 2]> = (0..12).map(|i| [0, 64 * i]).collect();
        assert_eq!(heads.offsets(0..2), Some(first));
        assert!(heads.is_axis(2, COLUMNS, 128) && heads.is_axis(3, CHANNELS, 64));
        assert_eq!(heads.natural(), (vec![128, 12, 64], vec![1, 0, 2]));
        let back = heads.transposed(&[0, 2, 1, 3]).and_then(|v| v.reshaped(&[1, 128, 768]));
        assert_eq!(back, Some(tokens));
    }

    #[test]
    fn reshapes_that_cut_an_axis_elsewhere_are_no_views() {
        let (_, axes) = ChannelOrder::ChannelsLast.of(&[6, 4]).expect("it has an order");
        let view = View { feature: 0, axes };
        assert_eq!(view.reshaped(&[4, 6]), None);
        assert!(view.reshaped(&[2, 3, 4]).is_some() && view.reshaped(&[2, 12]).is_some());
        let (_, axes) = ChannelOrder::ChannelsFirst.of(&[1, 8, 4, 5]).expect("it has an order");
        let image = View { feature: 0, axes };
        assert!(image.reshaped(&[1, 8, 20]).is_some_and(|v| v.axes[2].len() == 2));
        assert!(image.reshaped(&[8, 4, 5]).is_some() && image.reshaped(&[40, 4]).is_none());
    }
}
