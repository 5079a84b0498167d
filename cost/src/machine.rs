//! Machine descriptions: the numbers of a machine as TOML, each with its unit and its source.
//!
//! ```toml
//! name = "cpu"
//! l2_bandwidth = { value = 46, unit = "bytes per cycle", source = "cited: 117 GB/s at 2.5 GHz, measured" }
//! column_panel = { value = 64, unit = "columns per pass over the image", source = "assumed" }
//! ```
//!
//! The description that a target embeds is the schema of others: a file of the user has some of its keys, with their units, and the other
//! numbers are those of the embedded description.

use crate::CostError;
use gradus_dialects::op_cost::OpCost;
use gradus_ir::diag::hint;
use gradus_ir::{Context, Diagnostic, Loc};
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Maximum value, so that the product of two values fits into 64 bits.
const MAX_VALUE: u64 = u32::MAX as u64;

/// The numbers of a machine, in the order of the file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Machine {
    /// The name of the target that it describes.
    pub name: String,
    numbers: Vec<MachineNumber>,
}

/// A number of a machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MachineNumber {
    /// Key in the file.
    pub key: String,
    /// The value, from 1 to 2³² - 1.
    pub value: u64,
    /// Unit, such as `bytes per cycle`.
    pub unit: String,
    /// Source: `cited: ...` or `assumed`.
    pub source: String,
}

/// A function that reads the parameters of a simulated machine by the values of their names.
pub type ReadParameters<M> = fn(&dyn Fn(&'static str) -> Result<u64, String>) -> Result<M, String>;

impl Machine {
    /// Creates a machine without numbers.
    pub(crate) fn without_numbers(name: &str) -> Machine {
        Machine { name: name.to_owned(), numbers: Vec::new() }
    }

    /// Reads a description; `name` is that of the file, for diagnostics.
    ///
    /// # Errors
    /// A diagnostic for each mistake.
    pub fn read(ctx: &Context, name: &str, text: &str) -> Result<Machine, Vec<Diagnostic>> {
        DescriptionReader::new(ctx, name, text).machine(None)
    }

    /// Reads a description of another machine of the same target: the numbers that it has replace those of this one, and have their units.
    ///
    /// # Errors
    /// A diagnostic for each mistake.
    pub fn read_like(&self, ctx: &Context, name: &str, text: &str) -> Result<Machine, Vec<Diagnostic>> {
        let other = DescriptionReader::new(ctx, name, text).machine(Some(self))?;
        let mut machine = self.clone();
        for number in &mut machine.numbers {
            if let Some(other) = other.find(&number.key) {
                number.clone_from(other);
            }
        }
        Ok(machine)
    }

    /// Returns the numbers, in the order of the file.
    pub fn numbers(&self) -> &[MachineNumber] {
        &self.numbers
    }

    /// Returns the value of a key.
    ///
    /// # Errors
    /// There is no such number.
    pub fn value(&self, key: &str) -> Result<u64, CostError> {
        self.find(key).map(|number| number.value).ok_or_else(|| self.unknown(key))
    }

    /// Reads the parameters of a simulated machine, by a function that receives the value of a name.
    ///
    /// # Errors
    /// A number is missing, or the error of the function.
    pub fn parameters<M>(&self, of: ReadParameters<M>) -> Result<M, String> {
        of(&|key| self.value(key).map_err(String::from))
    }

    /// Changes the value of a key.
    ///
    /// # Errors
    /// There is no such number.
    pub fn set(&mut self, key: &str, value: u64) -> Result<(), CostError> {
        self.entry(key).map(|number| number.value = value)
    }

    /// Changes the source of the value of a key.
    ///
    /// # Errors
    /// There is no such number.
    pub fn cite(&mut self, key: &str, source: &str) -> Result<(), CostError> {
        self.entry(key).map(|number| source.clone_into(&mut number.source))
    }

    /// Returns the description as text, which [`Machine::read`] reads.
    pub fn to_text(&self) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let line = |MachineNumber { key, value, unit, source }: &MachineNumber| {
            format!("{key} = {{ value = {value}, unit = {}, source = {} }}\n", quoted(unit), quoted(source))
        };
        format!("name = {}\n{}", quoted(&self.name), self.numbers.iter().map(line).collect::<String>())
    }

    /// Replaces each `$key` of a text by the value of that key.
    ///
    /// # Errors
    /// A key is unknown.
    pub fn fill(&self, text: &str) -> Result<String, CostError> {
        let mut parts = text.split('$');
        let mut filled = parts.next().unwrap_or("").to_owned();
        for part in parts {
            let end = part.find(|c: char| !is_key(c)).unwrap_or(part.len());
            filled += &self.value(&part[..end])?.to_string();
            filled += &part[end..];
        }
        Ok(filled)
    }

    /// Returns a hash (FNV-1a, 64 bits) of the name, keys and values; comments, sources and order do not count.
    pub fn hash(&self) -> u64 {
        let mut lines: Vec<String> = self.numbers.iter().map(|n| format!("{}={}\n", n.key, n.value)).collect();
        lines.sort_unstable();
        let bytes = std::iter::once(self.name.as_str()).chain(lines.iter().map(String::as_str)).flat_map(str::bytes);
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }

    fn unknown(&self, key: &str) -> CostError {
        CostError::UnknownNumber { machine: self.name.clone(), key: key.to_owned() }
    }

    fn entry(&mut self, key: &str) -> Result<&mut MachineNumber, CostError> {
        let unknown = self.unknown(key);
        self.numbers.iter_mut().find(|number| number.key == key).ok_or(unknown)
    }

    fn find(&self, key: &str) -> Option<&MachineNumber> {
        self.numbers.iter().find(|number| number.key == key)
    }
}

fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A field of a struct of numbers.
pub trait ReadNumber: Sized {
    /// Reads the number of a key.
    ///
    /// # Errors
    /// There is no such number.
    fn read(machine: &Machine, key: &str) -> Result<Self, CostError>;
}

impl ReadNumber for u64 {
    fn read(machine: &Machine, key: &str) -> Result<u64, CostError> {
        machine.value(key)
    }
}

impl ReadNumber for usize {
    fn read(machine: &Machine, key: &str) -> Result<usize, CostError> {
        Ok(usize::try_from(machine.value(key)?).unwrap_or(usize::MAX))
    }
}

/// A number in hundredths of the unit of the field.
impl ReadNumber for f64 {
    fn read(machine: &Machine, key: &str) -> Result<f64, CostError> {
        Ok(machine.value(key)? as f64 / 100.0)
    }
}

/// Declares a struct of single values of a machine, whose keys are the names of the fields. Fields are `u64` unless they have another type
/// with [`ReadNumber`]: `f64` for hundredths, or a struct that is declared in this way.
#[macro_export]
macro_rules! machine_numbers {
    ($(#[$doc:meta])* $vis:vis struct $Name:ident {
        $($(#[$about:meta])* $of_key:vis $key:ident $(: $Type:ty)?,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $Name { $($(#[$about])* $of_key $key: $crate::machine_numbers!(@type $($Type)?),)+ }

        impl $Name {
            /// Reads the values.
            ///
            /// # Errors
            /// The machine lacks a number.
            $vis fn of(machine: &$crate::Machine) -> Result<$Name, $crate::CostError> {
                Ok($Name { $($key: $crate::ReadNumber::read(machine, stringify!($key))?,)+ })
            }
        }

        impl $crate::ReadNumber for $Name {
            fn read(machine: &$crate::Machine, _: &str) -> Result<$Name, $crate::CostError> {
                $Name::of(machine)
            }
        }
    };
    (@type) => { u64 };
    (@type $Type:ty) => { $Type };
}

/// The price of an op cost descriptor.
#[derive(Clone)]
pub struct Price(Arc<dyn Fn(OpCost) -> u64 + Send + Sync>);

impl Price {
    /// Wraps a function.
    pub fn new(cost: impl Fn(OpCost) -> u64 + Send + Sync + 'static) -> Price {
        Price(Arc::new(cost))
    }

    /// Returns the price of a descriptor.
    pub fn of(&self, cost: OpCost) -> u64 {
        (self.0)(cost)
    }
}

/// Returns the price function with the numbers of a machine.
///
/// # Errors
/// The numbers could not be read.
pub fn price<N: Send + Sync + 'static>(
    numbers: Result<N, CostError>,
    cost: fn(&N, OpCost) -> u64,
) -> Result<Price, CostError> {
    numbers.map(|numbers| Price::new(move |op| cost(&numbers, op)))
}

/// A description that is being read.
struct DescriptionReader<'a> {
    source: u32,
    text: &'a str,
    errors: Vec<Diagnostic>,
}

impl<'a> DescriptionReader<'a> {
    fn new(ctx: &Context, name: &str, text: &'a str) -> DescriptionReader<'a> {
        DescriptionReader { source: ctx.add_source(name, Arc::new(text.to_owned())), text, errors: Vec::new() }
    }

    fn error(&mut self, span: &Range<usize>, message: impl Into<String>) {
        self.errors.push(Diagnostic::error(Loc::source(self.source, span.start.min(self.text.len())), message));
    }

    fn machine(mut self, like: Option<&Machine>) -> Result<Machine, Vec<Diagnostic>> {
        let table = match DeTable::parse(self.text) {
            Ok(table) => table,
            Err(e) => {
                self.error(&e.span().unwrap_or(0..0), e.message().replace('\n', "; "));
                return Err(self.errors);
            }
        };
        let mut machine = Machine::default();
        let mut entries: Vec<_> = table.get_ref().iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            if key.get_ref() == "name" {
                machine.name = self.string("name", value).unwrap_or_default();
            } else if let Some(number) = self.number(key.get_ref(), &key.span(), value) {
                if let Some(like) = like {
                    self.compare(like, &number, &key.span());
                }
                machine.numbers.push(number);
            }
        }
        if !table.get_ref().keys().any(|key| key.get_ref() == "name") {
            self.error(&(0..0), "missing 'name', the target that is described");
        } else if let Some(like) = like.filter(|like| machine.name != like.name) {
            self.error(&(0..0), format!("this describes '{}', not '{}'", machine.name, like.name));
        }
        if self.errors.is_empty() { Ok(machine) } else { Err(self.errors) }
    }

    /// Compares a number with its schema.
    fn compare(&mut self, like: &Machine, number: &MachineNumber, span: &Range<usize>) {
        let Some(known) = like.find(&number.key) else {
            let hint = hint(&number.key, like.numbers.iter().map(|n| n.key.as_str()));
            return self.error(span, format!("unknown number '{}' of '{}'{hint}", number.key, like.name));
        };
        if known.unit != number.unit {
            self.error(span, format!("the unit of '{}' is '{}', not '{}'", number.key, known.unit, number.unit));
        }
    }

    /// Reads `{ value = ..., unit = "...", source = "..." }`.
    fn number(&mut self, key: &str, span: &Range<usize>, value: &Spanned<DeValue<'_>>) -> Option<MachineNumber> {
        let fields = ["value", "unit", "source"];
        let Some(table) = value.get_ref().as_table() else {
            let found = value.get_ref().type_str();
            self.error(&value.span(), format!("'{key}' is {{ value, unit, source }}, not of type {found}"));
            return None;
        };
        for field in table.keys().filter(|field| !fields.contains(&field.get_ref().as_ref())) {
            let hint = hint(field.get_ref(), fields.into_iter());
            self.error(&field.span(), format!("'{key}' has no field '{}'{hint}", field.get_ref()));
        }
        let [value, unit, source] = fields.map(|field| {
            let found = table.iter().find(|(name, _)| name.get_ref() == field).map(|(_, value)| value);
            if found.is_none() {
                self.error(span, format!("'{key}' has no '{field}'"));
            }
            found
        });
        let value = self.value(key, value?)?;
        let unit = self.string("unit", unit?)?;
        let at = source?.span();
        let source = self.string("source", source?)?;
        if source != "assumed" && !["cited: ", "assumed: "].iter().any(|start| source.starts_with(start)) {
            self.error(&at, format!("the source of '{key}' is \"cited: ...\" or \"assumed\", not \"{source}\""));
        }
        Some(MachineNumber { key: key.to_owned(), value, unit, source })
    }

    fn string(&mut self, what: &str, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let text = value.get_ref().as_str().map(str::to_owned);
        if text.as_ref().is_none_or(|text| text.is_empty() || text.chars().any(char::is_control)) {
            self.error(&value.span(), format!("'{what}' is a text of one line"));
            return None;
        }
        text
    }

    fn value(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<u64> {
        let Some(text) = value.get_ref().as_integer() else {
            let found = value.get_ref().type_str();
            self.error(&value.span(), format!("the value of '{key}' is an integer, not of type {found}"));
            return None;
        };
        let number = i128::from_str_radix(text.as_str(), text.radix()).ok();
        let number = number.and_then(|n| u64::try_from(n).ok()).filter(|n| (1..=MAX_VALUE).contains(n));
        if number.is_none() {
            let message = format!("the value of '{key}' is from 1 to {MAX_VALUE}, not {}", text.as_str());
            self.error(&value.span(), message);
        }
        number
    }
}
