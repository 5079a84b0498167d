//! The declaration of all instruction forms: mnemonic, fields and their order. Words, text and ops are visitors of it.

use super::{Conv, Feature, Inst, Move, Post, Queue, Residual, Transfer, Unit, Weights};

/// The kind of a group of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// Named values.
    Record,
    /// Values without names.
    List,
}

/// A reader or writer of fields. Each method receives the present value and returns the new one, so that a writer returns
/// what it receives. Elements of lists have an empty name.
pub trait Visitor {
    /// The error of a reader.
    type Error;

    /// Visits an integer of `bytes` bytes, between `range[0]` and `range[1]`.
    ///
    /// # Errors
    /// Those of the reader.
    fn number(&mut self, name: &'static str, bytes: usize, range: [i64; 2], value: i64) -> Result<i64, Self::Error>;

    /// Visits one of `words`, by index.
    ///
    /// # Errors
    /// Those of the reader.
    fn word(&mut self, name: &'static str, words: &[&'static str], index: usize) -> Result<usize, Self::Error>;

    /// Visits whether an optional value is present, which follows under the same name if it is.
    ///
    /// # Errors
    /// Those of the reader.
    fn present(&mut self, name: &'static str, present: bool) -> Result<bool, Self::Error>;

    /// Begins a group.
    ///
    /// # Errors
    /// Those of the reader.
    fn begin(&mut self, name: &'static str, group: Group) -> Result<(), Self::Error>;

    /// Ends a group.
    ///
    /// # Errors
    /// Those of the reader.
    fn end(&mut self, group: Group) -> Result<(), Self::Error>;
}

/// A value that visitors read and write.
pub trait Fields {
    /// Visits the value as field `name`.
    ///
    /// # Errors
    /// Those of the visitor.
    fn visit<V: Visitor>(&mut self, name: &'static str, v: &mut V) -> Result<(), V::Error>;
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Fields for $ty {
            fn visit<V: Visitor>(&mut self, name: &'static str, v: &mut V) -> Result<(), V::Error> {
                let range = [i64::from(<$ty>::MIN), i64::from(<$ty>::MAX)];
                *self = v.number(name, size_of::<$ty>(), range, (*self).into())?.clamp(range[0], range[1]) as $ty;
                Ok(())
            }
        }
    )*};
}

integers!(u8, u16, u32, i16, i32);

impl Fields for bool {
    fn visit<V: Visitor>(&mut self, name: &'static str, v: &mut V) -> Result<(), V::Error> {
        *self = v.word(name, &["false", "true"], usize::from(*self))? == 1;
        Ok(())
    }
}

impl Fields for Unit {
    fn visit<V: Visitor>(&mut self, name: &'static str, v: &mut V) -> Result<(), V::Error> {
        let index = v.word(name, &["load", "store", "array", "pipe", "mover"], *self as usize)?;
        *self = Unit::ALL[index.min(Unit::ALL.len() - 1)];
        Ok(())
    }
}

impl Fields for Queue {
    fn visit<V: Visitor>(&mut self, name: &'static str, v: &mut V) -> Result<(), V::Error> {
        let index = v.word(name, &["load", "store", "execute"], *self as usize)?;
        *self = [Queue::Load, Queue::Store, Queue::Execute][index.min(2)];
        Ok(())
    }
}

impl<T: Fields, const N: usize> Fields for [T; N] {
    fn visit<V: Visitor>(&mut self, name: &'static str, v: &mut V) -> Result<(), V::Error> {
        v.begin(name, Group::List)?;
        self.iter_mut().try_for_each(|element| element.visit("", v))?;
        v.end(Group::List)
    }
}

impl<T: Fields + Default + Copy> Fields for Option<T> {
    fn visit<V: Visitor>(&mut self, name: &'static str, v: &mut V) -> Result<(), V::Error> {
        let mut value = self.unwrap_or_default();
        let present = v.present(name, self.is_some())?;
        if present {
            value.visit(name, v)?;
        }
        *self = present.then_some(value);
        Ok(())
    }
}

macro_rules! records {
    ($($ty:ident { $($field:ident),* })*) => {$(
        impl $ty {
            /// Visits the fields, without a group around them.
            fn visit_fields<V: Visitor>(&mut self, v: &mut V) -> Result<(), V::Error> {
                $(self.$field.visit(stringify!($field), v)?;)*
                Ok(())
            }
        }

        impl Fields for $ty {
            fn visit<V: Visitor>(&mut self, name: &'static str, v: &mut V) -> Result<(), V::Error> {
                v.begin(name, Group::Record)?;
                self.visit_fields(v)?;
                v.end(Group::Record)
            }
        }
    )*};
}

records! {
    Feature { base, tile_w, tile_c, row, col, chan }
    Weights { base, tile_w, tile_k, tile_d, ky, kx, kernel, depth }
    Transfer { ddr, sram, run, counts, ddr_strides, sram_strides }
    Move { from, to, slice, counts, from_strides, to_strides }
    Conv {
        feature, weights, height, width, rows, cols, kernels, depth, kernel, stride, dilation, pad, pad_value, feature_zero,
        weight_zero, signed_feature, signed_weights, accumulate, acc
    }
    Residual { feature, zero, other_zero, scale, other_scale, shift, signed, sum_zero, sum_clamp }
    Post {
        acc, rows, cols, kernels, params, param_stride, zero, clamp, residual, table, table_stride, output
    }
}

/// The mnemonics; an opcode is an index into them.
pub const MNEMONICS: [&str; 9] = ["load", "store", "move", "conv", "dwconv", "post", "signal", "wait", "end"];

impl Inst {
    /// Returns the opcode.
    pub fn opcode(&self) -> usize {
        match self {
            Inst::Load(_) => 0,
            Inst::Store(_) => 1,
            Inst::Move(_) => 2,
            Inst::Conv(_) => 3,
            Inst::DwConv(_) => 4,
            Inst::Post(_) => 5,
            Inst::Signal { .. } => 6,
            Inst::Wait { .. } => 7,
            Inst::End => 8,
        }
    }

    /// Returns the instruction of an opcode whose fields are zero.
    pub fn blank(opcode: usize) -> Option<Inst> {
        let all = [
            Inst::Load(Transfer::default()),
            Inst::Store(Transfer::default()),
            Inst::Move(Move::default()),
            Inst::Conv(Conv::default()),
            Inst::DwConv(Conv::default()),
            Inst::Post(Post::default()),
            Inst::Signal { unit: Unit::Load, token: 0 },
            Inst::Wait { queue: Queue::Load, token: 0 },
            Inst::End,
        ];
        all.get(opcode).copied()
    }

    /// Visits the fields in order.
    ///
    /// # Errors
    /// Those of the visitor.
    pub fn visit_fields<V: Visitor>(&mut self, v: &mut V) -> Result<(), V::Error> {
        match self {
            Inst::Load(t) | Inst::Store(t) => t.visit_fields(v),
            Inst::Move(m) => m.visit_fields(v),
            Inst::Conv(conv) | Inst::DwConv(conv) => conv.visit_fields(v),
            Inst::Post(post) => post.visit_fields(v),
            Inst::Signal { unit, token } => {
                unit.visit("unit", v)?;
                token.visit("token", v)
            }
            Inst::Wait { queue, token } => {
                queue.visit("queue", v)?;
                token.visit("token", v)
            }
            Inst::End => Ok(()),
        }
    }
}
