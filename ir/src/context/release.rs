//! Freeing the elements of constants.

use super::Context;
use crate::attrs::{AttrData, Piece};
use crate::intern::Attr;
use crate::module::Module;
use crate::types::TypeData;
use rustc_hash::FxHashSet;

/// Minimum size in bytes of constants that are freed.
const MIN_BYTES: usize = 1 << 12;

impl Context {
    /// Frees the elements of dense constants of at least 4 KiB that no op of a module uses; their attributes stay, but
    /// have no elements any more. This keeps the memory of a compilation proportional to its program: attributes are
    /// never removed from the context, and each pass that transforms weights would add as much as they take.
    ///
    /// The module must be the only one of the context, and nothing outside of it may use such attributes.
    pub fn release_unused_constants(&self, m: &Module) {
        let mut used = self.parts_of_types_and_attrs();
        for op in m.ops_under(m.root()) {
            for dict in [m.props(op), m.attrs(op)] {
                used.extend(self.dict_entries(dict).iter().map(|entry| entry.1));
            }
        }
        let mut nested: Vec<Attr> = used.iter().copied().collect();
        while let Some(attr) = nested.pop() {
            let entries = self.dict_entries(attr).iter().map(|entry| entry.1);
            nested.extend(entries.filter(|&entry| used.insert(entry)));
        }
        for attr in self.attrs.keys().filter(|attr| !used.contains(attr)) {
            if let AttrData::Dense(dense) = self.attr_data(attr)
                && dense.data().len() >= MIN_BYTES
            {
                dense.release();
            }
        }
    }

    /// Returns the attributes that types and other attributes contain, except for entries of dictionaries.
    fn parts_of_types_and_attrs(&self) -> FxHashSet<Attr> {
        let mut parts = FxHashSet::default();
        let pieces = |body: &[Piece], parts: &mut FxHashSet<Attr>| {
            parts
                .extend(body.iter().filter_map(|piece| if let Piece::Attr(attr) = piece { Some(*attr) } else { None }));
        };
        for ty in self.types.keys() {
            match self.type_data(ty) {
                TypeData::Tensor { encoding, .. } => parts.extend(*encoding),
                TypeData::MemRef { layout, space, .. } => parts.extend(layout.iter().chain(space)),
                TypeData::UnrankedMemRef { space, .. } => parts.extend(*space),
                TypeData::Declared { params, .. } => parts.extend(params.iter().flatten()),
                TypeData::Dialect { body, .. } => pieces(body, &mut parts),
                _ => {}
            }
        }
        for attr in self.attrs.keys() {
            match self.attr_data(attr) {
                AttrData::Array(list) => parts.extend(list.iter()),
                AttrData::Sparse { indices, values, .. } => parts.extend([*indices, *values]),
                AttrData::Distinct { inner, .. } => parts.extend([*inner]),
                AttrData::Declared { params, .. } => parts.extend(params.iter().flatten()),
                AttrData::Dialect { body, .. } => pieces(body, &mut parts),
                AttrData::LocFused { meta, .. } => parts.extend(*meta),
                _ => {}
            }
        }
        parts
    }
}
