//! The error of a mistake in a declaration.

use std::fmt;

/// A place in a source file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceLine {
    /// The path, as the compiler was given it.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
}

/// The kind of a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are the declarations' own")]
pub enum Declared {
    Dialect,
    Op,
    Type,
    Attribute,
    Enumeration,
    Rule,
    RuleGroup,
    RuleFunction,
    Pass,
    Target,
}

impl Declared {
    fn word(self) -> &'static str {
        match self {
            Declared::Dialect => "dialect",
            Declared::Op => "op",
            Declared::Type => "type",
            Declared::Attribute => "attribute",
            Declared::Enumeration => "enumeration",
            Declared::Rule => "rule",
            Declared::RuleGroup => "rule group",
            Declared::RuleFunction => "rule function",
            Declared::Pass => "pass",
            Declared::Target => "target",
        }
    }
}

/// A mistake in a declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeclarationError {
    /// The kind of the declaration.
    pub declared: Declared,
    /// The declared name, such as `toy.add`.
    pub name: String,
    /// The dialect that holds the declaration; empty for a pass or target.
    pub dialect: &'static str,
    /// The mistake, in one sentence without a full stop.
    pub mistake: String,
    /// The place of the declaration, where it is known.
    pub place: Option<SourceLine>,
}

impl DeclarationError {
    /// Creates the error of a mistake in a declaration of a dialect.
    pub fn new(declared: Declared, dialect: &'static str, name: &str, mistake: impl Into<String>) -> DeclarationError {
        DeclarationError { declared, name: name.to_owned(), dialect, mistake: mistake.into(), place: None }
    }
}

/// `file:line: rule 'name' of dialect 'toy': mistake`
impl fmt::Display for DeclarationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(SourceLine { file, line }) = self.place {
            write!(f, "{file}:{line}: ")?;
        }
        write!(f, "{} '{}'", self.declared.word(), self.name)?;
        if !matches!(self.declared, Declared::Dialect | Declared::Pass | Declared::Target) {
            write!(f, " of dialect '{}'", self.dialect)?;
        }
        write!(f, ": {}", self.mistake)
    }
}

impl std::error::Error for DeclarationError {}
