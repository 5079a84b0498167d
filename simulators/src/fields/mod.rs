//! The declaration of fields: one order of names and values, of which bytes, text and random values are visitors.

pub mod bytes;
pub mod text;

/// The kind of a group of values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupKind {
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

    /// Visits whether an optional value is present. A present value is visited next, under the same name.
    ///
    /// # Errors
    /// Those of the reader.
    fn present(&mut self, name: &'static str, present: bool) -> Result<bool, Self::Error>;

    /// Visits a float; by default its bits, as a number.
    ///
    /// # Errors
    /// Those of the reader.
    fn float(&mut self, name: &'static str, value: f32) -> Result<f32, Self::Error> {
        let bits = self.number(name, 4, [0, u32::MAX.into()], value.to_bits().into())?;
        Ok(f32::from_bits(bits as u32))
    }

    /// Visits whether a list of variable length has another element; by default as the presence of one.
    ///
    /// # Errors
    /// Those of the reader.
    fn more(&mut self, more: bool) -> Result<bool, Self::Error> {
        self.present("", more)
    }

    /// Begins a group.
    ///
    /// # Errors
    /// Those of the reader.
    fn begin(&mut self, name: &'static str, group: GroupKind) -> Result<(), Self::Error>;

    /// Ends a group.
    ///
    /// # Errors
    /// Those of the reader.
    fn end(&mut self, group: GroupKind) -> Result<(), Self::Error>;
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

impl Fields for f32 {
    fn visit<V: Visitor>(&mut self, name: &'static str, v: &mut V) -> Result<(), V::Error> {
        *self = v.float(name, *self)?;
        Ok(())
    }
}

impl<T: Fields, const N: usize> Fields for [T; N] {
    fn visit<V: Visitor>(&mut self, name: &'static str, v: &mut V) -> Result<(), V::Error> {
        v.begin(name, GroupKind::List)?;
        self.iter_mut().try_for_each(|element| element.visit("", v))?;
        v.end(GroupKind::List)
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

/// Visits the elements before the first absent one, as a list of variable length.
///
/// # Errors
/// Those of the visitor.
pub fn visit_prefix<T: Fields + Default + Copy, V: Visitor>(
    list: &mut [Option<T>],
    name: &'static str,
    v: &mut V,
) -> Result<(), V::Error> {
    v.begin(name, GroupKind::List)?;
    let mut more = true;
    for slot in list {
        more = more && v.more(slot.is_some())?;
        let mut value = slot.unwrap_or_default();
        if more {
            value.visit("", v)?;
        }
        *slot = more.then_some(value);
    }
    v.end(GroupKind::List)
}

/// Declares the fields of structs, in order; after a semicolon a list of optional values, which omits those absent at its end.
macro_rules! records {
    ($($ty:ident { $($field:ident),* $(; $list:ident)? })*) => {$(
        impl $ty {
            /// Visits the fields, without a group around them.
            pub(crate) fn visit_fields<V: $crate::fields::Visitor>(&mut self, v: &mut V) -> Result<(), V::Error> {
                $($crate::fields::Fields::visit(&mut self.$field, stringify!($field), v)?;)*
                $($crate::fields::visit_prefix(&mut self.$list, stringify!($list), v)?;)?
                Ok(())
            }
        }

        impl $crate::fields::Fields for $ty {
            fn visit<V: $crate::fields::Visitor>(&mut self, name: &'static str, v: &mut V) -> Result<(), V::Error> {
                v.begin(name, $crate::fields::GroupKind::Record)?;
                self.visit_fields(v)?;
                v.end($crate::fields::GroupKind::Record)
            }
        }
    )*};
}
pub(crate) use records;

/// Declares the words of an enum without fields, in order.
macro_rules! words {
    ($ty:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        impl $crate::fields::Fields for $ty {
            fn visit<V: $crate::fields::Visitor>(&mut self, name: &'static str, v: &mut V) -> Result<(), V::Error> {
                let all = [$($ty::$variant),*];
                let present = all.iter().position(|one| one == self).unwrap_or(0);
                *self = all[v.word(name, &[$($word),*], present)?.min(all.len() - 1)];
                Ok(())
            }
        }
    };
}
pub(crate) use words;

/// Declares the variants of an enum, whose name is its field `kind`, with their fields.
macro_rules! variants {
    ($ty:ident { $($variant:ident = $word:literal { $($field:ident),* })* }) => {
        impl $crate::fields::Fields for $ty {
            fn visit<V: $crate::fields::Visitor>(&mut self, name: &'static str, v: &mut V) -> Result<(), V::Error> {
                let names = [$($word),*];
                let present = match self { $($ty::$variant { .. } => $word),* };
                v.begin(name, $crate::fields::GroupKind::Record)?;
                let present = names.iter().position(|&one| one == present).unwrap_or(0);
                let kind = names[v.word("kind", &names, present)?.min(names.len() - 1)];
                if kind != names[present] {
                    *self = match kind {
                        $($word => $ty::$variant { $($field: Default::default()),* },)*
                        _ => *self,
                    };
                }
                match self {
                    $($ty::$variant { $($field),* } => { $($field.visit(stringify!($field), v)?;)* })*
                }
                v.end($crate::fields::GroupKind::Record)
            }
        }
    };
}
pub(crate) use variants;
