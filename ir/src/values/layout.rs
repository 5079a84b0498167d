//! Strided memref layouts.

use crate::affine::{AffineBinOp, AffineExpr, AffineMap};
use crate::attrs::AttrData;
use crate::context::Context;
use crate::intern::{Attr, Type};
use crate::types::{DYNAMIC, TypeData};
use smallvec::SmallVec;

/// A strided layout, in elements; [`DYNAMIC`] for unknown numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StridedLayout {
    /// The element at index zero.
    pub offset: i64,
    /// The stride of each dimension.
    pub strides: SmallVec<[i64; 4]>,
}

impl StridedLayout {
    /// Returns the contiguous row-major layout.
    pub fn row_major(shape: &[i64]) -> StridedLayout {
        let mut strides: SmallVec<[i64; 4]> = smallvec::smallvec![1; shape.len()];
        for i in (1..shape.len()).rev() {
            strides[i - 1] = times(strides[i], shape[i]);
        }
        StridedLayout { offset: 0, strides }
    }

    /// Returns the layout as a map from indices to an element; dynamic numbers are symbols, the offset first.
    pub fn to_map(&self) -> AffineMap {
        let mut symbols = 0;
        let mut number = |n: i64| {
            if n != DYNAMIC {
                return AffineExpr::Constant(n);
            }
            symbols += 1;
            AffineExpr::Symbol(symbols - 1)
        };
        let mut sum = number(self.offset);
        for (dim, &stride) in (0..).zip(&self.strides) {
            sum = sum + AffineExpr::Dim(dim) * number(stride);
        }
        AffineMap::new(self.strides.len() as u32, symbols, [sum])
    }
}

/// Returns the product: dynamic if a factor is, unless the other is zero. Wraps on overflow.
pub fn times(a: i64, b: i64) -> i64 {
    match (a, b) {
        (0, _) | (_, 0) => 0,
        (DYNAMIC, _) | (_, DYNAMIC) => DYNAMIC,
        _ => a.wrapping_mul(b),
    }
}

/// Returns the sum: dynamic if a summand is. Wraps on overflow.
pub fn plus(a: i64, b: i64) -> i64 {
    if a == DYNAMIC || b == DYNAMIC { DYNAMIC } else { a.wrapping_add(b) }
}

/// A layout as expressions of its symbols: the offset and the strides.
type Linear = (AffineExpr, Vec<AffineExpr>);

impl Context {
    /// Returns `memref<shape x elem, layout, space>`.
    pub fn memref_type(&self, shape: &[i64], elem: Type, layout: Option<&StridedLayout>, space: Option<Attr>) -> Type {
        let layout =
            layout.map(|l| self.attr(AttrData::Strided { offset: l.offset, strides: l.strides.as_slice().into() }));
        self.ty(TypeData::MemRef { shape: shape.into(), elem, layout, space })
    }

    /// Returns the memory space of a memref; `None` is the default space.
    pub fn memory_space(&self, ty: Type) -> Option<Attr> {
        match self.type_data(ty) {
            TypeData::MemRef { space, .. } | TypeData::UnrankedMemRef { space, .. } => *space,
            _ => None,
        }
    }

    /// Returns the offset and strides of a memref type; `None` for layouts that are not strided, and for other types.
    pub fn strided_layout(&self, ty: Type) -> Option<StridedLayout> {
        let TypeData::MemRef { shape, layout, .. } = self.type_data(ty) else { return None };
        let Some(layout) = layout else { return Some(StridedLayout::row_major(shape)) };
        let (offset, strides) = self.linear(*layout)?;
        let known = |e: &AffineExpr| if let AffineExpr::Constant(n) = *e { n } else { DYNAMIC };
        Some(StridedLayout { offset: known(&offset), strides: strides.iter().map(known).collect() })
    }

    /// Returns the offset and strides of a memref of type `ty` with `sizes`, given the symbols of its layout; `None` if
    /// the layout is not strided or a symbol is missing.
    pub fn layout_of_sizes(&self, ty: Type, sizes: &[i64], symbols: &[i64]) -> Option<StridedLayout> {
        let TypeData::MemRef { layout, .. } = self.type_data(ty) else { return None };
        let Some(layout) = layout else { return Some(StridedLayout::row_major(sizes)) };
        let (offset, strides) = self.linear(*layout)?;
        let strides: Option<_> = strides.iter().map(|s| s.eval(&[], symbols).ok()).collect();
        Some(StridedLayout { offset: offset.eval(&[], symbols).ok()?, strides: strides? })
    }

    /// Whether a memref type has the default layout: contiguous and row-major.
    pub fn has_identity_layout(&self, ty: Type) -> bool {
        let TypeData::MemRef { layout: Some(layout), .. } = self.type_data(ty) else { return true };
        match self.attr_data(*layout) {
            AttrData::AffineMap(map) => map.is_identity(),
            AttrData::Strided { offset, strides } => *offset == 0 && **strides == [1],
            _ => false,
        }
    }

    /// Returns the number of symbols in the layout of a memref type.
    pub fn layout_symbols(&self, ty: Type) -> usize {
        let TypeData::MemRef { layout: Some(layout), .. } = self.type_data(ty) else { return 0 };
        match self.attr_data(*layout) {
            AttrData::AffineMap(map) if !map.is_identity() => map.num_symbols as usize,
            AttrData::Strided { offset, strides } => strides.iter().chain([offset]).filter(|&&n| n == DYNAMIC).count(),
            _ => 0,
        }
    }

    fn linear(&self, layout: Attr) -> Option<Linear> {
        match self.attr_data(layout) {
            AttrData::AffineMap(map) => linear(map),
            AttrData::Strided { offset, strides } => {
                linear(&StridedLayout { offset: *offset, strides: strides.as_ref().into() }.to_map())
            }
            _ => None,
        }
    }
}

/// Splits the single result of a map into a constant term and a coefficient for each dimension.
fn linear(map: &AffineMap) -> Option<Linear> {
    let [result] = &*map.results else { return None };
    let zero = AffineExpr::Constant(0);
    let (mut offset, mut strides) = (zero.clone(), vec![zero; map.num_dims as usize]);
    let mut terms = vec![(result.clone(), AffineExpr::Constant(1))];
    while let Some((term, factor)) = terms.pop() {
        match &term {
            AffineExpr::Dim(i) => {
                let stride = strides.get_mut(*i as usize)?;
                *stride = stride.clone() + factor;
            }
            AffineExpr::Symbol(_) | AffineExpr::Constant(_) => offset = offset + term * factor,
            AffineExpr::Binary(node) => {
                let (lhs, rhs) = (node.lhs().clone(), node.rhs().clone());
                match node.op() {
                    AffineBinOp::Add => terms.extend([(lhs, factor.clone()), (rhs, factor)]),
                    AffineBinOp::Mul if lhs.is_symbolic_or_constant() => terms.push((rhs, factor * lhs)),
                    AffineBinOp::Mul => terms.push((lhs, factor * rhs)),
                    _ => return None,
                }
            }
        }
    }
    Some((offset, strides))
}
