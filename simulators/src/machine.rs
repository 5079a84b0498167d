//! The declaration of a machine: names and ranges of its parameters, whose values, units and sources are in its description.

use std::fmt;
use std::ops::RangeInclusive;

/// The fault of a program whose machine has a parameter out of range.
pub(crate) const OUT_OF_RANGE: &str = "a parameter of the machine is out of range";

/// The values that a parameter may have.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    range: RangeInclusive<u32>,
    are_powers: bool,
}

impl From<RangeInclusive<u32>> for Values {
    fn from(range: RangeInclusive<u32>) -> Values {
        Values { range, are_powers: false }
    }
}

/// The powers of 2 in a range.
pub(crate) fn powers(range: RangeInclusive<u32>) -> Values {
    Values { range, are_powers: true }
}

impl Values {
    /// Checks the value of a parameter.
    ///
    /// # Errors
    /// The name and the values that the parameter may have.
    pub(crate) fn check(self, name: &str, value: u32) -> Result<(), String> {
        let is_allowed = self.range.contains(&value) && (!self.are_powers || value.is_power_of_two());
        if is_allowed { Ok(()) } else { Err(format!("{name}: {self}")) }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (*self.range.start(), *self.range.end());
        let next = if self.are_powers { first.saturating_mul(2) } else { first.saturating_add(1) };
        match last.is_power_of_two().then(|| last.ilog2()).filter(|&log| log > 12) {
            _ if next == last => write!(f, "{first} or {last}"),
            _ if self.are_powers && first > 1 => write!(f, "a power of 2, {first} to {last}"),
            Some(log) if self.are_powers => write!(f, "a power of 2 up to 2^{log}"),
            None if self.are_powers => write!(f, "a power of 2 up to {last}"),
            Some(log) => write!(f, "{first} to 2^{log}"),
            None => write!(f, "{first} to {last}"),
        }
    }
}

/// Returns the value of a number in a description, whose line begins with `key = { value = `.
///
/// # Panics
/// There is no such number, which is an error of the build.
pub(crate) const fn value_in(description: &str, key: &str) -> u32 {
    let text = description.as_bytes();
    let mut line = 0;
    while line < text.len() {
        let end = after(text, after(text, line, key.as_bytes()), b" = { value = ");
        if end < text.len() {
            return leading_number(text, end);
        }
        while line < text.len() && text[line] != b'\n' {
            line += 1;
        }
        line += 1;
    }
    panic!("the description lacks the number of a parameter")
}

/// Returns the position after `part` if it stands at `at`, else the end of the text.
const fn after(text: &[u8], at: usize, part: &[u8]) -> usize {
    let mut i = 0;
    while i < part.len() {
        if at + i >= text.len() || text[at + i] != part[i] {
            return text.len();
        }
        i += 1;
    }
    at + part.len()
}

const fn leading_number(text: &[u8], mut at: usize) -> u32 {
    let mut value = 0;
    while text[at].is_ascii_digit() {
        value = 10 * value + (text[at] - b'0') as u32;
        at += 1;
    }
    value
}

/// Declares a machine: the file of its description, then the parameters in the order of binaries, each with its values, which may refer to
/// other parameters; after a semicolon a field that is no number, with its default.
macro_rules! machine {
    (
        $(#[$doc:meta])* $Name:ident, $file:literal;
        $($key:ident: $values:expr,)+
        $(; $(#[$about:meta])* $other:ident: $Other:ty = $default:expr)?
    ) => {
        $(#[$doc])*
        ///
        #[doc = concat!("```toml\n", include_str!($file), "```")]
        pub struct $Name {
            $(#[doc = concat!("The number `", stringify!($key), "` of the description.")] pub $key: u32,)+
            $($(#[$about])* pub $other: $Other,)?
        }

        impl Default for $Name {
            fn default() -> $Name {
                $Name::DEFAULT
            }
        }

        impl $Name {
            /// The description of the machine: its numbers, each with value, unit and source, as TOML.
            pub const DESCRIPTION: &str = include_str!($file);

            /// The machine of the description.
            pub const DEFAULT: $Name = $Name {
                $($key: $crate::machine::value_in($Name::DESCRIPTION, stringify!($key)),)+
                $($other: $default)?
            };

            /// Returns the parameters with their names, in the order of the declaration.
            pub fn parameters(&mut self) -> [(&'static str, &mut u32); [$(stringify!($key)),+].len()] {
                [$((stringify!($key), &mut self.$key)),+]
            }

            /// Returns the values of the parameters, in the order of the declaration.
            pub fn numbers(&self) -> Vec<i64> {
                vec![$(i64::from(self.$key)),+]
            }

            /// Returns the machine of values in the order of the declaration.
            ///
            /// # Errors
            /// A value is missing or out of range.
            pub fn from_numbers(numbers: &[i64]) -> Result<$Name, String> {
                let mut machine = $Name::DEFAULT;
                let parameters = machine.parameters();
                if numbers.len() != parameters.len() {
                    return Err(format!("a machine has {} numbers, not {}", parameters.len(), numbers.len()));
                }
                for ((name, parameter), &value) in parameters.into_iter().zip(numbers) {
                    *parameter = u32::try_from(value).map_err(|_| format!("{name}: {value} is out of range"))?;
                }
                machine.check().map(|()| machine)
            }

            /// Reads the machine from a description that returns the value of a name.
            ///
            /// # Errors
            /// A value is missing or out of range.
            pub fn of(value: &dyn Fn(&'static str) -> Result<u64, String>) -> Result<$Name, String> {
                let value = |name| value(name).map(|value| i64::try_from(value).unwrap_or(i64::MAX));
                $Name::from_numbers(&[$(value(stringify!($key))?),+])
            }

            /// Checks that each parameter is in its range.
            ///
            /// # Errors
            /// The first parameter that is out of range, with its range.
            pub fn check(&self) -> Result<(), String> {
                let &$Name { $($key,)+ .. } = self;
                $($crate::machine::Values::from($values).check(stringify!($key), $key)?;)+
                Ok(())
            }

            /// Returns the hash of the parameters (FNV-1a of the values in the order of the declaration), which a binary carries.
            pub fn hash(&self) -> u64 {
                let values = [$(self.$key,)+ $(self.$other as u32)?];
                let bytes = values.into_iter().flat_map(u32::to_le_bytes);
                bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
            }
        }
    };
}
pub(crate) use machine;

#[cfg(test)]
mod tests {
    use super::{Values, powers, value_in};

    #[test]
    fn ranges_are_named_in_messages() {
        let said = |values: Values| values.check("n", 3).expect_err("3 is out of range");
        assert_eq!(said((4..=9).into()), "n: 4 to 9");
        assert_eq!(said((8..=9).into()), "n: 8 or 9");
        assert_eq!(said((4..=1 << 20).into()), "n: 4 to 2^20");
        assert_eq!(said(powers(1..=32)), "n: a power of 2 up to 32");
        assert_eq!(said(powers(8..=1024)), "n: a power of 2, 8 to 1024");
        assert_eq!(said(powers(4..=8)), "n: 4 or 8");
        assert_eq!(powers(1..=4).check("n", 4), Ok(()));
    }

    #[test]
    fn values_are_those_of_the_whole_key() {
        let text = "# wide = { value = 1, }\nwide_share = { value = 2, }\nwide = { value = 34, }\n";
        assert_eq!((value_in(text, "wide"), value_in(text, "wide_share")), (34, 2));
    }
}
