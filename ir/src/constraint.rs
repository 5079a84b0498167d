//! Constraints on types and attributes, and the syntax of attributes in custom forms.

use crate::context::Context;
use crate::intern::{Attr, Type};

/// A type constraint: a named set of types, such as "signless integer or vector of it".
pub struct TypeConstraint {
    /// The summary in messages: "operand #0 must be *summary*".
    pub summary: &'static str,
    /// Whether a type satisfies the constraint.
    pub check: fn(&Context, Type) -> bool,
    /// The only type in the set, if there is just one: custom forms omit it.
    pub only: Option<Type>,
}

/// An attribute constraint: a named set of attributes, such as "64-bit integer" or the cases of an enumeration.
pub struct AttrKind {
    /// The summary in messages: "attribute 'x' failed to satisfy constraint: *summary*".
    pub summary: &'static str,
    /// Whether an attribute satisfies the constraint.
    pub check: fn(&Context, Attr) -> bool,
    /// The syntax in custom forms; see [`AttrText`].
    pub text: AttrText,
}

impl AttrKind {
    /// Returns the name of an enumeration without its dialect, such as `fastmath`; `None` for other kinds.
    pub fn mnemonic(&self) -> Option<&'static str> {
        if let AttrText::Words { mnemonic, .. } = self.text { Some(mnemonic) } else { None }
    }
}

/// The syntax of an attribute in custom forms.
pub enum AttrText {
    /// Any attribute, with its type.
    Full,
    /// In full by a directive, without aliases.
    Inlined,
    /// An integer or float literal without its type, which is fixed.
    Bare(Type),
    /// A number without its type, which is `f64`: `-128`, `1.5`, `inf`.
    Number,
    /// A symbol name, `@f`, for a string attribute.
    SymbolName,
    /// A string without a type, `"f"`.
    Quoted,
    /// No text: a unit attribute implied by the surrounding keyword.
    Flag,
    /// A type, for a type attribute.
    Type,
    /// `[1, 2]` for a dense array of integers of this type.
    Ints(Type),
    /// A word for an integer of type `i64` or `i32`: (word, value).
    Cases(Type, &'static [(&'static str, i64)]),
    /// The part in angle brackets of a dialect's enumeration: `#arith.fastmath<nnan,contract>` is `<nnan,contract>`.
    Words {
        /// `arith`
        dialect: &'static str,
        /// `fastmath`
        mnemonic: &'static str,
        /// Its words.
        words: &'static [&'static str],
        /// How several are combined; `None` where there is always one.
        flags: Option<Flags>,
    },
    /// The parameters of a declared attribute without its name: `#layout.tiled<"NCHW8c">` is `<"NCHW8c">`. The field is
    /// the name, `layout.tiled`.
    Declared(&'static str),
}

/// Syntax of a bit-enum attribute. The first word of the list is the empty set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flags {
    /// The separator: a comma, with or without spaces.
    pub separator: &'static str,
    /// The word for the full set; empty without one.
    pub all: &'static str,
}

impl Flags {
    /// Returns a list of flags, which are among `words`, in canonical form: each once, in the order of `words`.
    pub(crate) fn in_order(&self, words: &[&str], given: &[&str]) -> String {
        let flags: Vec<&str> = words.iter().skip(1).copied().filter(|w| *w != self.all).collect();
        if !self.all.is_empty() && (given.contains(&self.all) || flags.iter().all(|w| given.contains(w))) {
            return self.all.to_owned();
        }
        let set: Vec<&str> = flags.into_iter().filter(|w| given.contains(w)).collect();
        match set.is_empty() {
            true => words.first().map_or(String::new(), |none| (*none).to_owned()),
            false => set.join(self.separator),
        }
    }
}

/// A declared attribute: an inherent attribute of an op, or a parameter of a declared type or attribute.
pub struct AttrSpec {
    /// The name in the text.
    pub name: &'static str,
    /// The documentation.
    pub doc: &'static str,
    /// Whether the attribute may be absent.
    pub optional: bool,
    /// The attribute constraint.
    pub kind: &'static AttrKind,
    /// The text of the default value.
    pub default: Option<&'static str>,
}
