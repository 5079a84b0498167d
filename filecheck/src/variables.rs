//! The values of variables.

use crate::format::NumberFormat;
use std::collections::{BTreeMap, BTreeSet};

/// A numeric variable. Its index is stable when the variable is cleared, so that parsed patterns see its next value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NumberId(usize);

/// The state of a numeric variable.
pub struct NumericVariable {
    pub value: Option<i128>,
    pub format: NumberFormat,
    /// The line of the directive that first defined it.
    pub line: Option<usize>,
}

/// The variables of a run. Names that start with `$` are global.
pub struct Variables {
    strings: BTreeMap<String, Vec<u8>>,
    /// String variables that some parsed pattern defines.
    defined_strings: BTreeSet<String>,
    numbers: Vec<NumericVariable>,
    names: BTreeMap<String, NumberId>,
}

/// The variable `@LINE`.
const LINE: NumberId = NumberId(0);

impl Variables {
    /// Creates variables with only `@LINE`.
    pub fn new() -> Variables {
        let (strings, defined_strings) = (BTreeMap::new(), BTreeSet::new());
        let mut variables = Variables { strings, defined_strings, numbers: Vec::new(), names: BTreeMap::new() };
        variables.add_number("@LINE", NumberFormat::UNSIGNED, None);
        variables
    }

    /// Sets `@LINE`.
    pub fn set_line(&mut self, line: usize) {
        self.numbers[LINE.0].value = Some(line as i128);
    }

    pub fn string(&self, name: &str) -> Option<&[u8]> {
        self.strings.get(name).map(Vec::as_slice)
    }

    pub fn set_string(&mut self, name: &str, value: &[u8]) {
        self.strings.insert(name.to_owned(), value.to_vec());
    }

    /// Declares that a pattern defines a string variable.
    pub fn declare_string(&mut self, name: &str) {
        self.defined_strings.insert(name.to_owned());
    }

    pub fn is_string(&self, name: &str) -> bool {
        self.defined_strings.contains(name)
    }

    pub fn find_number(&self, name: &str) -> Option<NumberId> {
        self.names.get(name).copied()
    }

    pub fn add_number(&mut self, name: &str, format: NumberFormat, line: Option<usize>) -> NumberId {
        let id = NumberId(self.numbers.len());
        self.numbers.push(NumericVariable { value: None, format, line });
        self.names.insert(name.to_owned(), id);
        id
    }

    pub fn number(&self, id: NumberId) -> &NumericVariable {
        &self.numbers[id.0]
    }

    pub fn set_number(&mut self, name: &str, id: NumberId, value: i128) {
        self.numbers[id.0].value = Some(value);
        self.names.entry(name.to_owned()).or_insert(id);
    }

    /// Clears all local variables.
    pub fn clear_locals(&mut self) {
        self.strings.retain(|name, _| name.starts_with('$'));
        let local = |n: &&String| !n.starts_with(['$', '@']);
        let locals: Vec<String> = self.names.keys().filter(local).cloned().collect();
        for name in locals {
            let id = self.names.remove(&name).expect("was just listed");
            self.numbers[id.0].value = None;
        }
    }
}
