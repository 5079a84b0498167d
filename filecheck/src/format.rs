//! Formats of numbers in patterns.

/// The base and case of a number.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Style {
    #[default]
    None,
    Unsigned,
    Signed,
    HexLower,
    HexUpper,
}

/// The format of a number: style, minimum number of digits, and `0x` prefix.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct NumberFormat {
    pub style: Style,
    pub precision: u32,
    pub alternate: bool,
}

impl NumberFormat {
    pub const UNSIGNED: NumberFormat = NumberFormat { style: Style::Unsigned, precision: 0, alternate: false };

    pub fn name(self) -> &'static str {
        match self.style {
            Style::None => "<none>",
            Style::Unsigned => "%u",
            Style::Signed => "%d",
            Style::HexLower => "%x",
            Style::HexUpper => "%X",
        }
    }

    /// Returns a regular expression that matches all numbers of this format.
    pub fn wildcard(self) -> String {
        let prefix = if self.alternate { "0x" } else { "" };
        let (sign, first, digit) = match self.style {
            Style::None | Style::Unsigned => ("", "1-9", "0-9"),
            Style::Signed => ("-?", "1-9", "0-9"),
            Style::HexLower => ("", "1-9a-f", "0-9a-f"),
            Style::HexUpper => ("", "1-9A-F", "0-9A-F"),
        };
        match self.precision {
            0 => format!("{prefix}{sign}[{digit}]+"),
            n => format!("{prefix}{sign}([{first}][{digit}]*)?[{digit}]{{{n}}}"),
        }
    }

    /// Formats a number; `None` if the format cannot represent it.
    pub fn write(self, value: i128) -> Option<String> {
        if self.style != Style::Signed && value < 0 {
            return None;
        }
        let abs = value.unsigned_abs();
        let digits = match self.style {
            Style::HexLower => format!("{abs:x}"),
            Style::HexUpper => format!("{abs:X}"),
            _ => abs.to_string(),
        };
        let (sign, prefix) = (if value < 0 { "-" } else { "" }, if self.alternate { "0x" } else { "" });
        Some(format!("{sign}{prefix}{digits:0>width$}", width = self.precision as usize))
    }

    /// Parses text that [`NumberFormat::wildcard`] matched; `None` above 128 bits.
    pub fn read(self, text: &[u8]) -> Option<i128> {
        let text = std::str::from_utf8(text).ok()?;
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |t| (true, t));
        let digits = if self.alternate { digits.strip_prefix("0x")? } else { digits };
        let radix = if matches!(self.style, Style::HexLower | Style::HexUpper) { 16 } else { 10 };
        let value = i128::from_str_radix(digits, radix).ok()?;
        Some(if negative { -value } else { value })
    }
}
