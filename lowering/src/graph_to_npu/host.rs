//! Layouts of operands and results on the host.

use super::network::{BlockOrder, FeatureInfo};
use super::read::Packing;
use super::view::{ChannelOrder, View};
use crate::emit::Emitter;
use gradus_ir::{Module, Tensor, Type, Value};
use gradus_networks::layout::TiledLayout;

/// A result of a program.
pub struct Result<'a> {
    /// Its feature.
    pub feature: &'a FeatureInfo,
    /// A value that it is.
    pub value: Value,
    /// The view that this value is of it.
    pub view: &'a View,
}

/// The levels of the blocks of a row.
fn blocks_of(feature: &FeatureInfo) -> String {
    let [columns, channels] = feature.tile;
    let inner = if columns > 1 { format!("{columns}w{channels}c") } else { format!("{channels}c") };
    match feature.blocks {
        BlockOrder::ColumnsInside => format!("CW{inner}"),
        BlockOrder::ChannelsInside => format!("WC{inner}"),
    }
}

/// The layout of a feature `[H, W, C]` and the letters of its axes.
fn of_feature(feature: &FeatureInfo) -> Option<(TiledLayout, &'static str)> {
    Some((format!("H{}", blocks_of(feature)).parse().ok()?, "HWC"))
}

/// The layout of images of a feature, `[N, C, H, W]`, `[N, C, W]` or `[1, C]`, and the letters of their axes.
fn of_images(m: &Module, value: Value, feature: &FeatureInfo) -> Option<(TiledLayout, &'static str)> {
    let extents = m.ctx.shape(m.value_type(value))?;
    let (levels, axes) = match extents {
        // The images of a batch of one pixel each are columns.
        [images, _, rest @ ..] if *images > 1 && rest.iter().all(|&n| n == 1) => return None,
        [_, _, _, _] => ("NH", "NCHW"),
        [_, _, _] => ("N", "NCW"),
        [1, _] => return Some((format!("NC{}c", feature.tile[1]).parse().ok()?, "NC")),
        _ => return None,
    };
    Some((format!("{levels}{}", blocks_of(feature)).parse().ok()?, axes))
}

fn extents_of(feature: &FeatureInfo) -> [i64; 3] {
    [feature.height, feature.width, feature.channels].map(|n| n as i64)
}

/// Whether a value has the channels of its feature second.
fn is_image(m: &Module, value: Value, view: &View) -> bool {
    let extents: Vec<usize> =
        m.ctx.shape(m.value_type(value)).unwrap_or_default().iter().map(|&d| d.max(0) as usize).collect();
    ChannelOrder::ChannelsFirst.of(&extents).is_some_and(|(_, axes)| axes == view.axes)
}

impl Result<'_> {
    /// The type of the packed result.
    pub fn packed_type(&self, m: &Module) -> Option<Type> {
        let ty = m.value_type(self.value);
        let extents = match of_images(m, self.value, self.feature).filter(|_| is_image(m, self.value, self.view)) {
            Some((layout, axes)) => layout.extents(axes, m.ctx.shape(ty)?).ok()?,
            None => {
                let (layout, axes) = of_feature(self.feature)?;
                layout.extents(axes, &extents_of(self.feature)).ok()?
            }
        };
        Some(m.ctx.tensor_type(&extents, m.ctx.element_type(ty)))
    }

    /// Creates the tensor of a value that is a view of the packed result.
    pub fn unpack(&self, e: &mut Emitter<'_, '_>, packed: Value, value: Value, view: &View) -> Option<Value> {
        let ty = e.m().value_type(value);
        if let Some((layout, axes)) = of_images(e.m(), self.value, self.feature)
            && is_image(e.m(), self.value, self.view)
        {
            if view == self.view && e.m().ctx.shape(ty) == e.m().ctx.shape(e.m().value_type(self.value)) {
                return e.unpack(packed, &layout, axes, ty);
            }
            let like = e.m().value_type(self.value);
            let image = e.unpack(packed, &layout, axes, e.m().ctx.with_element(like, e.m().ctx.element_type(ty)))?;
            return moved(e, image, self.view, view, ty);
        }
        let (layout, axes) = of_feature(self.feature)?;
        let plain = e.m().ctx.tensor_type(&extents_of(self.feature), e.m().ctx.element_type(ty));
        let unpacked = e.unpack(packed, &layout, axes, plain)?;
        natural(e, unpacked, view, ty)
    }
}

/// A feature in its natural order as the tensor of a view.
fn natural(e: &mut Emitter<'_, '_>, x: Value, view: &View, ty: Type) -> Option<Value> {
    let (extents, order) = view.natural();
    let extents: Vec<i64> = extents.into_iter().map(|n| n as i64).collect();
    let x = e.reshape(x, &extents)?;
    let x = if order.is_sorted() { x } else { e.permute(x, &order.iter().map(|&i| i as i64).collect::<Vec<_>>())? };
    let wanted = e.m().ctx.shape(ty)?.to_vec();
    e.reshape(x, &wanted)
}

/// A tensor that is a view of a feature as the tensor of another view of it.
fn moved(e: &mut Emitter<'_, '_>, x: Value, from: &View, to: &View, ty: Type) -> Option<Value> {
    // The digits of both views divide axes alike after they are divided by each other: through the natural order.
    let (extents, order) = from.natural();
    let digits: Vec<i64> = order.iter().map(|&i| extents[i] as i64).collect();
    let x = e.reshape(x, &digits)?;
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(i, &at)| back[at] = i as i64);
    let x = if order.is_sorted() { x } else { e.permute(x, &back)? };
    natural(e, x, to, ty)
}

/// Lays out an operand.
pub fn pack(e: &mut Emitter<'_, '_>, value: Value, feature: &FeatureInfo, packing: Packing) -> Option<Value> {
    let Packing::Rows { pads: [before, after], zero } = packing else {
        if packing == Packing::Blocks(ChannelOrder::ChannelsFirst)
            && let Some((layout, axes)) = of_images(e.m(), value, feature)
        {
            return e.pack(value, &layout, axes);
        }
        // Only images of one pixel have another order.
        let plain = e.reshape(value, &extents_of(feature))?;
        let (layout, axes) = of_feature(feature)?;
        return e.pack(plain, &layout, axes);
    };
    let ty = e.m().value_type(value);
    let (rank, elem) = (e.m().ctx.shape(ty)?.len(), e.m().ctx.element_type(ty));
    let mut list = vec![0_i64; 2 * rank];
    (list[rank - 1], list[2 * rank - 1]) = (before as i64, after as i64);
    let padded = if before + after > 0 {
        let byte = Tensor::new(e.m().ctx.dtype(elem)?, vec![], vec![zero as u8].into()).ok()?;
        let byte = Some(e.constant(&byte, elem)?);
        e.pad(value, &list, byte)?
    } else {
        value
    };
    let (layout, axes) = if rank == 4 { ("NHWC", "NCHW") } else { ("NWC", "NCW") };
    e.pack(padded, &layout.parse().ok()?, axes)
}
