//! Conversion of pest pairs to types.

use super::grammar::Rule;
use super::source::Source;
use super::{ParseError, Result, TypeAttrParser};
use crate::attrs::{AttrData, Int};
use crate::intern::{Attr, Type};
use crate::text::cursor::Cursor;
use crate::types::{DYNAMIC, MAX_INT_WIDTH, Signedness, TypeData};
use crate::values::float::FloatKind;
use pest::iterators::Pair;
use smallvec::SmallVec;

type Shape = SmallVec<[i64; 6]>;

impl TypeAttrParser<'_> {
    /// Converts a pair of one of the alternatives of `ty`.
    pub(super) fn type_pair(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>) -> Result<Type> {
        self.count();
        match pair.as_rule() {
            Rule::number_type | Rule::scalar_type => self.scalar(src.str(&pair), src.start(&pair)),
            Rule::dialect_type => self.dialect_type(src.str(&pair), src.start(&pair)),
            Rule::function_type => self.function_type(src, pair),
            Rule::tensor_type => self.tensor_type(src, pair),
            Rule::memref_type => self.memref_type(src, pair),
            Rule::vector_type => self.vector_type(src, pair),
            Rule::tuple_type => {
                let elems: Result<Vec<Type>> = pair.into_inner().map(|p| self.type_pair(src, p)).collect();
                Ok(self.ctx.ty(TypeData::Tuple(elems?.into())))
            }
            Rule::complex_type => {
                let (elem, at) = self.one_type(src, pair.into_inner().next())?;
                match self.ctx.type_data(elem) {
                    TypeData::Integer { .. } | TypeData::Float(_) => Ok(self.ctx.ty(TypeData::Complex(elem))),
                    _ => Err(ParseError::new(at, "invalid element type for complex")),
                }
            }
            _ => Err(ParseError::new(src.start(&pair), "expected non-function type")),
        }
    }

    /// Converts a type. Returns it and its offset.
    fn one_type(&mut self, src: &Source<'_>, pair: Option<Pair<'_, Rule>>) -> Result<(Type, usize)> {
        let pair = pair.ok_or_else(|| ParseError::new(0, "expected non-function type"))?;
        let at = src.start(&pair);
        Ok((self.type_pair(src, pair)?, at))
    }

    /// Parses a type that is a single word.
    fn scalar(&mut self, word: &str, at: usize) -> Result<Type> {
        match word {
            "i1" => return Ok(Type::I1),
            "i8" => return Ok(Type::I8),
            "i32" => return Ok(Type::I32),
            "i64" => return Ok(Type::I64),
            "f32" => return Ok(Type::F32),
            "f64" => return Ok(Type::F64),
            "index" => return Ok(Type::INDEX),
            "none" => return Ok(Type::NONE),
            _ => {}
        }
        let (sign, width) = match word.as_bytes() {
            [b'i', b'0'..=b'9', ..] => (Signedness::Signless, &word[1..]),
            [b's', b'i', b'0'..=b'9', ..] => (Signedness::Signed, &word[2..]),
            [b'u', b'i', b'0'..=b'9', ..] => (Signedness::Unsigned, &word[2..]),
            _ => {
                let kind = FloatKind::from_name(word);
                let unknown = || ParseError::new(at, format!("expected non-function type, found '{word}'"));
                return kind.map(|kind| self.ctx.ty(TypeData::Float(kind))).ok_or_else(unknown);
            }
        };
        if !width.bytes().all(|b| b.is_ascii_digit()) {
            return Err(ParseError::new(at, format!("expected non-function type, found '{word}'")));
        }
        match width.parse::<u32>() {
            Ok(width) if width <= MAX_INT_WIDTH => Ok(self.ctx.int_type(width, sign)),
            Ok(_) => Err(ParseError::new(at, format!("integer bitwidth is limited to {MAX_INT_WIDTH} bits"))),
            Err(_) => Err(ParseError::new(at, "invalid integer width")),
        }
    }

    fn function_type(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>) -> Result<Type> {
        let mut sides: [SmallVec<[Type; 4]>; 2] = Default::default();
        for (side, part) in sides.iter_mut().zip(pair.into_inner()) {
            if part.as_rule() == Rule::type_group {
                for ty in part.into_inner() {
                    side.push(self.type_pair(src, ty)?);
                }
            } else {
                side.push(self.type_pair(src, part)?);
            }
        }
        let [inputs, results] = &sides;
        Ok(self.ctx.function_type(inputs, results))
    }

    fn tensor_type(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>) -> Result<Type> {
        let mut inner = pair.into_inner();
        let dims = inner.next();
        let (elem, at) = self.one_type(src, inner.next())?;
        if !self.ctx.is_tensor_element(elem) {
            return Err(ParseError::new(at, "invalid tensor element type"));
        }
        let encoding = match inner.next() {
            Some(pair) => Some((src.start(&pair), self.attr_pair(src, pair, None)?)),
            None => None,
        };
        let data = match dims {
            Some(dims) if dims.as_rule() == Rule::shape => {
                let (shape, _) = shape(src.str(&dims), src.start(&dims))?;
                TypeData::Tensor { shape: shape.as_slice().into(), elem, encoding: encoding.map(|e| e.1) }
            }
            _ => match encoding {
                Some((at, _)) => return Err(ParseError::new(at, "cannot apply encoding to unranked tensor")),
                None => TypeData::UnrankedTensor(elem),
            },
        };
        Ok(self.ctx.ty(data))
    }

    fn vector_type(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>) -> Result<Type> {
        let whole = src.start(&pair);
        let mut inner = pair.into_inner();
        let dims = inner.next();
        let (elem, _) = self.one_type(src, inner.next())?;
        use TypeData::{Declared, Dialect, Float, Index, Integer};
        if !matches!(self.ctx.type_data(elem), Declared { .. } | Dialect { .. } | Float(_) | Index | Integer { .. }) {
            return Err(ParseError::new(whole, "failed to verify 'elementType': VectorElementTypeInterface instance"));
        }
        let (text, at) = dims.map_or(("", whole), |dims| (src.str(&dims), src.start(&dims)));
        let (shape, scalable) = shape(text, at)?;
        if shape.iter().any(|&d| d <= 0) {
            let shape = shape.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
            let message = format!("vector types must have positive constant sizes but got {shape}");
            return Err(ParseError::new(whole, message));
        }
        let (shape, scalable) = (shape.as_slice().into(), scalable.as_slice().into());
        Ok(self.ctx.ty(TypeData::Vector { shape, scalable, elem }))
    }

    fn memref_type(&mut self, src: &Source<'_>, pair: Pair<'_, Rule>) -> Result<Type> {
        let whole = src.start(&pair);
        let mut inner = pair.into_inner();
        let dims = inner.next();
        let (elem, at) = self.one_type(src, inner.next())?;
        use TypeData::{Complex, Declared, Dialect, Float, Index, Integer, MemRef, UnrankedMemRef, Vector};
        if !matches!(
            self.ctx.type_data(elem),
            Complex(_)
                | Declared { .. }
                | Dialect { .. }
                | Float(_)
                | Index
                | Integer { .. }
                | Vector { .. }
                | MemRef { .. }
                | UnrankedMemRef { .. }
        ) {
            return Err(ParseError::new(at, "invalid memref element type"));
        }
        let (mut layout, mut space) = (None, None);
        for pair in inner {
            let at = src.start(&pair);
            let attr = self.attr_pair(src, pair, None)?;
            self.place_memref_attr(attr, at, &mut layout, &mut space)?;
        }
        if let Some(attr) = space {
            match self.ctx.attr_data(attr) {
                AttrData::Integer { value: Int::Small(0), .. } => space = None,
                AttrData::Integer { .. } | AttrData::String { .. } | AttrData::Dict(_) => {}
                AttrData::Dialect { .. } | AttrData::Declared { .. } => {}
                _ => return Err(ParseError::new(whole, "unsupported memory space Attribute")),
            }
        }
        let Some(dims) = dims.filter(|dims| dims.as_rule() == Rule::shape) else {
            return match layout {
                Some(_) => Err(ParseError::new(whole, "an unranked memref has no layout")),
                None => Ok(self.ctx.ty(UnrankedMemRef { elem, space })),
            };
        };
        let (shape, _) = shape(src.str(&dims), src.start(&dims))?;
        let layout = self.memref_layout(layout, shape.len(), whole)?;
        Ok(self.ctx.ty(MemRef { shape: shape.as_slice().into(), elem, layout, space }))
    }

    /// Decides whether an attribute after the element type is the layout or the memory space.
    fn place_memref_attr(
        &self,
        attr: Attr,
        at: usize,
        layout: &mut Option<Attr>,
        space: &mut Option<Attr>,
    ) -> Result<()> {
        if matches!(self.ctx.attr_data(attr), AttrData::AffineMap(_) | AttrData::Strided { .. }) {
            if space.is_some() {
                return Err(ParseError::new(at, "expected memory space to be last in memref type"));
            }
            *layout = Some(attr);
            return Ok(());
        }
        if let Some(first) = *space {
            // A dialect attribute may be a layout; it must be one if another attribute is the memory space.
            let of_dialect = matches!(self.ctx.attr_data(first), AttrData::Dialect { .. } | AttrData::Declared { .. });
            let may_be_layout = layout.is_none() && of_dialect;
            if !may_be_layout {
                return Err(ParseError::new(at, "multiple memory spaces specified in memref type"));
            }
            *layout = Some(first);
        }
        *space = Some(attr);
        Ok(())
    }

    /// Checks a layout against the rank, and drops the identity.
    fn memref_layout(&self, layout: Option<Attr>, rank: usize, at: usize) -> Result<Option<Attr>> {
        let Some(attr) = layout else { return Ok(None) };
        match self.ctx.attr_data(attr) {
            AttrData::AffineMap(map) if map.num_dims as usize != rank => Err(ParseError::new(
                at,
                format!("memref layout mismatch between rank and affine map: {rank} != {}", map.num_dims),
            )),
            AttrData::AffineMap(map) if map.is_identity() => Ok(None),
            AttrData::Strided { strides, .. } if strides.len() != rank => {
                Err(ParseError::new(at, "expected the number of strides to match the rank"))
            }
            _ => Ok(layout),
        }
    }
}

/// Parses the extents in `4x?x[8]x`. Returns them and whether each is scalable, `[8]`.
fn shape(text: &str, at: usize) -> Result<(Shape, SmallVec<[bool; 6]>)> {
    let (mut shape, mut scalable) = (Shape::new(), SmallVec::new());
    let mut cur = Cursor::new(text);
    loop {
        scalable.push(cur.eat("["));
        cur.skip_space();
        if cur.at_end() {
            scalable.pop();
            return Ok((shape, scalable));
        }
        let extent = match cur.eat("?") {
            true => DYNAMIC,
            false => cur.digits().parse().map_err(|_| ParseError::new(at, "invalid dimension"))?,
        };
        shape.push(extent);
        cur.eat("]");
        cur.eat("x");
    }
}
