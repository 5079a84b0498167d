//! Fields as attributes: a group of named values is a dictionary, a list an array; numbers are `i64`, floats `f32`, words strings, flags
//! booleans. An absent optional value has no key.

use gradus_ir::{Attr, AttrData, Context, Str, Type, Violation};
use gradus_simulators::cluster::{ClusterMachine, Record};
use gradus_simulators::fields::{Fields, GroupKind, Visitor};
use std::convert::Infallible;
use std::fmt::Write;

/// A group of named values.
pub(super) trait HasFields {
    /// Visits the values in the order of their declaration.
    fn fields<V: Visitor>(&mut self, v: &mut V) -> Result<(), V::Error>;
}

impl HasFields for Record {
    fn fields<V: Visitor>(&mut self, v: &mut V) -> Result<(), V::Error> {
        self.visit_fields(v)
    }
}

impl HasFields for ClusterMachine {
    fn fields<V: Visitor>(&mut self, v: &mut V) -> Result<(), V::Error> {
        self.parameters().into_iter().try_for_each(|(name, value)| value.visit(name, v))
    }
}

/// Returns the dictionary of a group.
pub(super) fn to_attr(ctx: &Context, mut value: impl HasFields) -> Attr {
    let mut writer = AttrWriter { ctx, open: vec![Vec::new()] };
    let Ok(()) = value.fields(&mut writer);
    ctx.dict_attr(writer.open.pop().unwrap_or_default())
}

/// Sets the values of a group to those of a dictionary.
///
/// # Errors
/// A missing or unknown key, and a value that its field does not have; each with the path of the key.
pub(super) fn read(ctx: &Context, attr: Attr, value: &mut impl HasFields) -> Result<(), Violation> {
    let mut reader = AttrReader { ctx, open: Vec::new() };
    reader.open("", attr, GroupKind::Record)?;
    value.fields(&mut reader)?;
    reader.end(GroupKind::Record)
}

/// Collects fields into attributes.
struct AttrWriter<'a> {
    ctx: &'a Context,
    /// The values so far of each open group, and their names. Elements of lists have an empty one.
    open: Vec<Vec<(Str, Attr)>>,
}

impl AttrWriter<'_> {
    fn push(&mut self, name: &str, value: Attr) {
        if let Some(group) = self.open.last_mut() {
            group.push((self.ctx.str(name), value));
        }
    }
}

impl Visitor for AttrWriter<'_> {
    type Error = Infallible;

    fn number(&mut self, name: &'static str, _: usize, _: [i64; 2], value: i64) -> Result<i64, Infallible> {
        self.push(name, self.ctx.int_attr(Type::I64, value));
        Ok(value)
    }

    fn word(&mut self, name: &'static str, words: &[&'static str], index: usize) -> Result<usize, Infallible> {
        self.push(name, word_attr(self.ctx, words[index]));
        Ok(index)
    }

    fn present(&mut self, _: &'static str, present: bool) -> Result<bool, Infallible> {
        Ok(present)
    }

    fn float(&mut self, name: &'static str, value: f32) -> Result<f32, Infallible> {
        self.push(name, float_attr(self.ctx, value));
        Ok(value)
    }

    fn begin(&mut self, name: &'static str, _: GroupKind) -> Result<(), Infallible> {
        // The value is set at the end of the group.
        self.push(name, Attr::UNIT);
        self.open.push(Vec::new());
        Ok(())
    }

    fn end(&mut self, group: GroupKind) -> Result<(), Infallible> {
        let values = self.open.pop().unwrap_or_default();
        let attr = match group {
            GroupKind::Record => self.ctx.dict_attr(values),
            GroupKind::List => self.ctx.array_attr(&values.into_iter().map(|(_, value)| value).collect::<Vec<_>>()),
        };
        if let Some((_, value)) = self.open.last_mut().and_then(|group| group.last_mut()) {
            *value = attr;
        }
        Ok(())
    }
}

fn float_attr(ctx: &Context, value: f32) -> Attr {
    ctx.attr(AttrData::Float { ty: Type::F32, bits: [value.to_bits().into(), 0] })
}

fn word_attr(ctx: &Context, word: &str) -> Attr {
    match word {
        "false" => Attr::FALSE,
        "true" => Attr::TRUE,
        word => ctx.string_attr(word),
    }
}

/// Reads fields from attributes.
struct AttrReader<'a> {
    ctx: &'a Context,
    open: Vec<OpenGroup<'a>>,
}

/// A group that is read.
struct OpenGroup<'a> {
    name: &'static str,
    values: GroupValues<'a>,
}

/// The values of a group.
enum GroupValues<'a> {
    /// Entries of a dictionary, and a bit for each that was read.
    Named(&'a [(Str, Attr)], u64),
    /// Elements of an array, and the number of those that were read.
    Listed(&'a [Attr], usize),
}

impl<'a> AttrReader<'a> {
    /// Returns the path of a field of the innermost group, such as `stages[1].scales`.
    fn path(&self, field: &str) -> String {
        let mut path = String::new();
        let names = self.open.iter().skip(1).map(|group| group.name).chain([field]);
        for (group, name) in self.open.iter().zip(names) {
            let _ = match group.values {
                GroupValues::Listed(_, read) => write!(path, "[{}]", read.saturating_sub(1)),
                GroupValues::Named(..) if path.is_empty() => write!(path, "{name}"),
                GroupValues::Named(..) => write!(path, ".{name}"),
            };
        }
        path
    }

    /// Returns the entry of this name that the innermost group has, or its next element.
    fn find(&mut self, name: &str) -> Option<Attr> {
        match &mut self.open.last_mut()?.values {
            GroupValues::Named(entries, read) => {
                let key = self.ctx.str(name);
                let i = entries.iter().position(|entry| entry.0 == key)?;
                *read |= 1u64.checked_shl(i as u32).unwrap_or(0);
                Some(entries[i].1)
            }
            GroupValues::Listed(elements, read) => {
                *read += 1;
                elements.get(*read - 1).copied()
            }
        }
    }

    fn take(&mut self, name: &str) -> Result<Attr, Violation> {
        self.find(name).ok_or_else(|| format!("requires the field '{}'", self.path(name)).into())
    }

    fn mistyped<T>(&self, name: &str, expected: &str) -> Result<T, Violation> {
        Err(format!("requires {expected} as the field '{}'", self.path(name)).into())
    }

    fn open(&mut self, name: &'static str, attr: Attr, group: GroupKind) -> Result<(), Violation> {
        let values = match (group, self.ctx.attr_data(attr)) {
            (GroupKind::Record, AttrData::Dict(entries)) => GroupValues::Named(entries, 0),
            (GroupKind::List, AttrData::Array(elements)) => GroupValues::Listed(elements, 0),
            (GroupKind::Record, _) => return self.mistyped(name, "a dictionary"),
            (GroupKind::List, _) => return self.mistyped(name, "an array"),
        };
        self.open.push(OpenGroup { name, values });
        Ok(())
    }
}

impl Visitor for AttrReader<'_> {
    type Error = Violation;

    fn number(&mut self, name: &'static str, _: usize, range: [i64; 2], _: i64) -> Result<i64, Violation> {
        let attr = self.take(name)?;
        match self.ctx.as_int(attr).filter(|_| self.ctx.attr_type(attr) == Some(Type::I64)) {
            Some(value) if (range[0]..=range[1]).contains(&value) => Ok(value),
            Some(value) => Err(format!("{} in the field '{}'", out_of_range(value, range), self.path(name)).into()),
            None => self.mistyped(name, "a 64-bit integer"),
        }
    }

    fn word(&mut self, name: &'static str, words: &[&'static str], _: usize) -> Result<usize, Violation> {
        let attr = self.take(name)?;
        match words.iter().position(|word| word_attr(self.ctx, word) == attr) {
            Some(index) => Ok(index),
            None => self.mistyped(name, &one_of(words)),
        }
    }

    fn present(&mut self, name: &'static str, _: bool) -> Result<bool, Violation> {
        let Some(OpenGroup { values: GroupValues::Named(entries, _), .. }) = self.open.last() else { return Ok(false) };
        let key = self.ctx.str(name);
        Ok(entries.iter().any(|entry| entry.0 == key))
    }

    fn float(&mut self, name: &'static str, _: f32) -> Result<f32, Violation> {
        let attr = self.take(name)?;
        match *self.ctx.attr_data(attr) {
            AttrData::Float { ty: Type::F32, bits } => Ok(f32::from_bits(bits[0] as u32)),
            _ => self.mistyped(name, "a 32-bit float"),
        }
    }

    fn more(&mut self, _: bool) -> Result<bool, Violation> {
        Ok(match self.open.last() {
            Some(OpenGroup { values: GroupValues::Listed(elements, read), .. }) => *read < elements.len(),
            _ => false,
        })
    }

    fn begin(&mut self, name: &'static str, group: GroupKind) -> Result<(), Violation> {
        let attr = self.take(name)?;
        self.open(name, attr, group)
    }

    fn end(&mut self, _: GroupKind) -> Result<(), Violation> {
        match self.open.last().map(|group| &group.values) {
            Some(GroupValues::Named(entries, read)) => {
                let is_read = |i: usize| i < 64 && read >> i & 1 == 1;
                if let Some((_, entry)) = entries.iter().enumerate().find(|(i, _)| !is_read(*i)) {
                    return Err(format!("has an unknown field '{}'", self.path(self.ctx.text(entry.0))).into());
                }
            }
            Some(GroupValues::Listed(elements, read)) if elements.len() > *read => {
                let len = elements.len();
                let list = self.open.pop().map_or("", |group| group.name);
                return Err(format!("has {len} elements in the field '{}', too many", self.path(list)).into());
            }
            _ => {}
        }
        self.open.pop();
        Ok(())
    }
}

/// Returns the message about a number that is out of its range.
pub(super) fn out_of_range(value: i64, [low, high]: [i64; 2]) -> String {
    format!("has {value}, which is not between {low} and {high},")
}

/// Returns `one of a, b, c`.
pub(super) fn one_of(words: &[&str]) -> String {
    format!("one of {}", words.join(", "))
}
