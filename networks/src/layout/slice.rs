//! Sub-tensors as views of the same buffer.

use super::concrete_layout::{Layout, digits};
use super::error::LayoutError;
use super::separability::check_translatable;

impl Layout {
    /// Returns the sub-tensor at `starts` with `sizes`, as a view of the same buffer.
    ///
    /// # Errors
    /// When it is out of bounds, or starts inside a tile and ends beyond that tile.
    pub fn slice(&self, starts: &[u64], sizes: &[u64]) -> Result<Layout, LayoutError> {
        let rank = self.axes.len();
        if let Some(found) = [starts.len(), sizes.len()].into_iter().find(|&n| n != rank) {
            return Err(LayoutError::Rank { found, rank });
        }
        let mut part = self.clone();
        for (i, (&start, &size)) in starts.iter().zip(sizes).enumerate() {
            let axis = &self.axes[i];
            if start.checked_add(size).is_none_or(|end| end > axis.size) {
                return Err(LayoutError::OutOfBounds { axis: axis.name });
            }
            check_translatable(axis, start, size)?;
            // An empty slice may start one past the end.
            part.start += if size == 0 { 0 } else { axis.contribution(start) };
            part.axes[i].size = size;
            for level in part.nest.iter_mut().filter(|l| l.axis == i) {
                level.extent = level.extent.min(size.div_ceil(level.step));
            }
            part.axes[i].digits = digits(&part.nest, i, size);
        }
        Ok(part)
    }
}
