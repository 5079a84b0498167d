//! Transposed convolutions by products and col2im: each input position is multiplied by all taps, and each output position sums the
//! products that belong to it. Filters are any tensor, rearranged by ops.

use super::{ConvOptions, MAX_GROUPS, NO_TABLE, Transposed};
use crate::emit::{Emitter, ProductOperands};
use crate::graph_to_addr::pool::SUM;
use gradus_ir::{Refusal, Type, Value};
use gradus_networks::layout::{AddressTable, SlidingWindow, ZERO_PAGE};

impl Transposed {
    /// Lowers to rows of the result with channels last.
    pub(super) fn by_col2im(&self, e: &mut Emitter<'_, '_>, options: &ConvOptions) -> Result<Value, Refusal> {
        if !self.is_outer() && self.groups as u64 > MAX_GROUPS {
            return Err(Refusal::of_attr("group", "{} groups, more than {}").with([self.groups, MAX_GROUPS as usize]));
        }
        let table = self.sums().ok_or(NO_TABLE)?;
        self.summed(e, &table, options).ok_or(NO_TABLE.into())
    }

    fn summed(&self, e: &mut Emitter<'_, '_>, table: &AddressTable<'_>, options: &ConvOptions) -> Option<Value> {
        let narrow = e.m().ctx.element_type(e.m().value_type(self.x));
        // Sums of 16-bit floats are rounded once.
        let wide = if narrow == Type::F64 { narrow } else { Type::F32 };
        let [x, w] = [self.x, self.w].map(|value| e.with_element(value, wide));
        let products =
            if self.is_outer() { self.outer_products(e, x?, w?)? } else { self.products(e, x?, w?, options)? };
        let sums = e.pool(SUM, products, table)?;
        let all = self.groups * self.filters;
        let mut sums = e.reshape(sums, &[(table.rows() * table.run() / all) as i64, all as i64])?;
        if let Some(bias) = self.bias {
            let bias = e.with_element(bias, wide)?;
            sums = e.add(sums, bias)?;
        }
        e.with_element(sums, narrow)
    }

    /// Whether each channel is a group with one filter, so that products are elementwise.
    fn is_outer(&self) -> bool {
        self.channels() == 1 && self.filters == 1
    }

    /// Returns the table of the sums: the products that each output position adds, as runs of all filters of a group and tap.
    fn sums(&self) -> Option<AddressTable<'static>> {
        let taps = self.taps();
        let [groups, run] = if self.is_outer() { [1, self.groups] } else { [self.groups, self.filters] };
        let channels = groups.checked_mul(taps)?.checked_mul(run)?;
        let mut rows = self.sources(i64::try_from(channels).ok()?, groups, |group, tap| (group * taps + tap) * run)?;
        rows.iter_mut().for_each(|row| row.retain(|&base| base != ZERO_PAGE));
        let most = rows.iter().map(Vec::len).max().unwrap_or(0).max(1);
        rows.iter_mut().for_each(|row| row.resize(most, ZERO_PAGE));
        AddressTable::indirect(rows.concat(), [rows.len(), most], run).ok()
    }

    /// Multiplies each input position by the filters of all taps, `[positions, groups * taps * filters]`.
    fn products(&self, e: &mut Emitter<'_, '_>, x: Value, w: Value, options: &ConvOptions) -> Option<Value> {
        let [groups, channels, filters, taps] =
            [self.groups, self.channels(), self.filters, self.taps()].map(|n| n as i64);
        // Two transpositions, of matrices and of rows, are faster than one of elements.
        let w = e.reshape(w, &[groups, channels, filters * taps])?;
        let w = e.permute(w, &[0, 2, 1])?;
        let w = e.reshape(w, &[groups, filters, taps, channels])?;
        let w = e.permute(w, &[0, 2, 1, 3])?;
        let w = e.reshape(w, &[groups * taps * filters, channels])?;
        let a = e.pack(x, &self.layout, self.axes.letters)?;
        let one = |&outputs: &i64| SlidingWindow { outputs: outputs as u64, taps: 1, stride: 1, dilation: 1, start: 0 };
        let windows = self.input[2..].iter().map(one).collect();
        self.product(e, a, windows, w, &ProductOperands::default(), options)
    }

    /// Multiplies each input position of each channel by its filter, `[positions, taps, channels]`.
    fn outer_products(&self, e: &mut Emitter<'_, '_>, x: Value, w: Value) -> Option<Value> {
        let channels = self.input[1];
        let w = e.reshape(w, &[channels, self.taps() as i64])?;
        let w = e.transpose(w)?;
        let a = e.pack(x, &self.axes.channels_last, self.axes.letters)?;
        let positions = self.input[0] * self.input[2..].iter().product::<i64>();
        let a = e.reshape(a, &[positions, 1, channels])?;
        e.mul(a, w)
    }
}
