//! Bit-exact conversion and printing of MLIR's builtin float formats.
//!
//! A float attribute is stored as the raw bits of its format. This module converts these bits from and to `f64`, parses
//! both literal forms of the textual syntax, and prints exactly the text of MLIR's printer, which depends on the
//! format's precision and differs from shortest-digits algorithms.

/// The encoding of infinities and NaNs in a format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// IEEE 754: the largest exponent encodes infinity and NaNs.
    Ieee,
    /// The all-ones magnitude is NaN; no infinity; overflow gives NaN.
    NanAllOnes,
    /// The encoding of negative zero is the only NaN; there is no negative zero.
    NanNegativeZero,
    /// Every encoding is finite; overflow saturates.
    Finite,
    /// An unsigned power of two: no sign, no zero, no mantissa; all ones is NaN.
    Exponent,
}

/// The parameters of a format. `precision` counts the integer bit, stored or implicit.
struct Semantics {
    name: &'static str,
    width: u32,
    precision: u32,
    bias: i32,
    special: Special,
}

/// Defines the formats: variant, keyword, bits, precision, exponent bias, special values.
macro_rules! float_kinds {
    ($($variant:ident $name:literal $width:literal $precision:literal $bias:literal $special:ident;)*) => {
        /// A builtin float format of MLIR.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FloatKind {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl FloatKind {
            /// Every format, narrow to wide.
            pub const ALL: [FloatKind; 18] = [$(FloatKind::$variant),*];
        }

        /// The formats' parameters, indexed by `FloatKind as usize`.
        const SEMANTICS: [Semantics; 18] = [$(Semantics {
            name: $name, width: $width, precision: $precision, bias: $bias, special: Special::$special,
        }),*];
    };
}

float_kinds! {
    F4E2M1FN      "f4E2M1FN"        4   2     1 Finite;
    F6E2M3FN      "f6E2M3FN"        6   4     1 Finite;
    F6E3M2FN      "f6E3M2FN"        6   3     3 Finite;
    F8E5M2        "f8E5M2"          8   3    15 Ieee;
    F8E4M3        "f8E4M3"          8   4     7 Ieee;
    F8E4M3FN      "f8E4M3FN"        8   4     7 NanAllOnes;
    F8E5M2FNUZ    "f8E5M2FNUZ"      8   3    16 NanNegativeZero;
    F8E4M3FNUZ    "f8E4M3FNUZ"      8   4     8 NanNegativeZero;
    F8E4M3B11FNUZ "f8E4M3B11FNUZ"   8   4    11 NanNegativeZero;
    F8E3M4        "f8E3M4"          8   5     3 Ieee;
    F8E8M0FNU     "f8E8M0FNU"       8   1   127 Exponent;
    BF16          "bf16"           16   8   127 Ieee;
    F16           "f16"            16  11    15 Ieee;
    TF32          "tf32"           19  11   127 Ieee;
    F32           "f32"            32  24   127 Ieee;
    F64           "f64"            64  53  1023 Ieee;
    F80           "f80"            80  64 16383 Ieee;
    F128          "f128"          128 113 16383 Ieee;
}

impl FloatKind {
    /// Returns the keyword of the type in MLIR's syntax.
    pub const fn name(self) -> &'static str {
        self.semantics().name
    }

    /// Returns the format with this keyword.
    pub(crate) fn from_name(name: &str) -> Option<FloatKind> {
        FloatKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the number of bits of a value.
    pub const fn width(self) -> u32 {
        self.semantics().width
    }

    const fn semantics(self) -> &'static Semantics {
        &SEMANTICS[self as usize]
    }
}

impl Semantics {
    /// Whether the format is f80, the only one that stores the integer bit.
    const fn is_f80(&self) -> bool {
        self.width == 80
    }

    /// Returns the exponent of the smallest normal number.
    const fn min_exponent(&self) -> i32 {
        if matches!(self.special, Special::Exponent) { -self.bias } else { 1 - self.bias }
    }

    /// Returns the encoding of the largest finite magnitude, without sign and stored integer bit.
    const fn max_code(&self) -> u128 {
        match self.special {
            Special::Ieee => self.infinity_code() - 1,
            Special::NanAllOnes => (1 << (self.width - 1)) - 2,
            Special::NanNegativeZero | Special::Finite => (1 << (self.width - 1)) - 1,
            Special::Exponent => 0xFE,
        }
    }

    /// Returns the encoding of infinity in an IEEE-like format: all exponent bits set, zero fraction.
    const fn infinity_code(&self) -> u128 {
        let magnitude_bits = self.width - 1 - self.is_f80() as u32;
        (1 << magnitude_bits) - (1 << (self.precision - 1))
    }

    /// Returns the encoding of infinity, or of the format's overflow result.
    fn infinity(&self, negative: bool) -> u128 {
        match self.special {
            Special::Ieee => self.assemble(negative, self.infinity_code()),
            Special::Finite => self.assemble(negative, self.max_code()),
            _ => self.nan(negative),
        }
    }

    /// Returns a quiet NaN; the largest value in formats without NaN.
    fn nan(&self, negative: bool) -> u128 {
        match self.special {
            Special::Ieee => self.assemble(negative, self.infinity_code() | (1 << (self.precision - 2))),
            Special::NanAllOnes => self.assemble(negative, self.max_code() + 1),
            Special::NanNegativeZero => 1 << (self.width - 1),
            Special::Finite => self.assemble(negative, self.max_code()),
            Special::Exponent => 0xFF,
        }
    }

    /// Adds the sign, and f80's integer bit, to a magnitude. Unsigned formats drop the sign.
    fn assemble(&self, negative: bool, code: u128) -> u128 {
        let unsigned = match self.special {
            Special::Exponent => true,
            Special::NanNegativeZero => code == 0,
            _ => false,
        };
        let sign = u128::from(negative && !unsigned) << (self.width - 1);
        if !self.is_f80() {
            return sign | code;
        }
        let (exponent, fraction) = (code >> 63, code & ((1 << 63) - 1));
        sign | (exponent << 64) | (u128::from(exponent != 0) << 63) | fraction
    }

    /// Rounds the non-zero `significand * 2^exponent` to nearest, ties to even.
    fn encode(&self, negative: bool, significand: u128, exponent: i32) -> u128 {
        let fraction_bits = self.precision as i32 - 1;
        let top = exponent + 127 - significand.leading_zeros() as i32;
        let lowest = top.max(self.min_exponent()) - fraction_bits;
        let rounded = shift_rounding(significand, exponent - lowest);
        // A carry out of the fraction increments the exponent field, as the next binade requires.
        let code = if top < self.min_exponent() {
            if self.special == Special::Exponent { 0 } else { rounded }
        } else if top + self.bias >= 1 << 16 {
            u128::MAX
        } else {
            (((top + self.bias) as u128) << fraction_bits) + (rounded - (1 << fraction_bits))
        };
        if code > self.max_code() { self.infinity(negative) } else { self.assemble(negative, code) }
    }
}

/// Returns `value * 2^shift`, rounded to nearest even. Left shifts must not overflow.
fn shift_rounding(value: u128, shift: i32) -> u128 {
    if shift >= 0 {
        return value << shift.min(127);
    }
    let right = shift.unsigned_abs();
    if right > 128 {
        return 0;
    }
    let floor = value.checked_shr(right).unwrap_or(0);
    let rest = value << (128 - right);
    const HALF: u128 = 1 << 127;
    floor + u128::from(rest > HALF || (rest == HALF && floor & 1 == 1))
}

/// The decoded value of an encoding, without sign.
enum Value {
    Nan,
    Infinity,
    /// `significand * 2^exponent`; bit 0 of the significand is the format's lowest bit.
    Finite {
        significand: u128,
        exponent: i32,
    },
}

/// Splits bits into sign and value.
fn decode(sem: &Semantics, bits: u128) -> (bool, Value) {
    if sem.special == Special::Exponent {
        let finite = Value::Finite { significand: 1, exponent: (bits & 0xFF) as i32 - sem.bias };
        return (false, if bits & 0xFF == 0xFF { Value::Nan } else { finite });
    }
    let negative = (bits >> (sem.width - 1)) & 1 == 1;
    let magnitude = bits & ((1 << (sem.width - 1)) - 1);
    let stored = sem.precision - 1 + u32::from(sem.is_f80());
    let (field, fraction) = ((magnitude >> stored) as i32, magnitude & ((1 << stored) - 1));
    let max_field = ((1u32 << (sem.width - 1 - stored)) - 1) as i32;
    let integer_bit = 1 << (sem.precision - 1);
    let value = match sem.special {
        Special::Ieee if field == max_field => {
            let is_infinity = fraction == if sem.is_f80() { integer_bit } else { 0 };
            if is_infinity { Value::Infinity } else { Value::Nan }
        }
        // Current hardware treats an f80 whose integer bit contradicts its exponent as invalid.
        Special::Ieee if sem.is_f80() && field != 0 && fraction & integer_bit == 0 => Value::Nan,
        Special::NanAllOnes if magnitude > sem.max_code() => Value::Nan,
        Special::NanNegativeZero if negative && magnitude == 0 => Value::Nan,
        _ => {
            let significand = if field == 0 { fraction } else { fraction | integer_bit };
            Value::Finite { significand, exponent: field.max(1) - sem.bias - (sem.precision as i32 - 1) }
        }
    };
    (negative, value)
}

/// Maps equivalent f80 encodings to the one that MLIR keeps.
fn canonical(sem: &Semantics, bits: u128) -> u128 {
    if !sem.is_f80() {
        return bits;
    }
    const EXPONENT: u128 = 0x7FFF << 64;
    let integer_bit = (bits >> 63) & 1 == 1;
    match (bits & EXPONENT == 0, integer_bit) {
        (true, true) => bits | (1 << 64),
        (false, false) => bits | EXPONENT,
        _ => bits,
    }
}

/// Returns the bits of `value` rounded to `kind`, to nearest even.
///
/// Overflow gives infinity; NaN in formats without infinities; the largest value in formats with neither.
pub fn from_f64(kind: FloatKind, value: f64) -> u128 {
    let bits = u128::from(value.to_bits());
    match kind {
        FloatKind::F64 => return bits,
        FloatKind::F32 if !value.is_nan() => return u128::from((value as f32).to_bits()),
        _ => {}
    }
    let sem = kind.semantics();
    match decode(FloatKind::F64.semantics(), bits) {
        (negative, Value::Nan) => sem.nan(negative),
        (negative, Value::Infinity) => sem.infinity(negative),
        (negative, Value::Finite { significand: 0, .. }) => sem.assemble(negative, 0),
        (negative, Value::Finite { significand, exponent }) => sem.encode(negative, significand, exponent),
    }
}

/// Returns the value of `bits` as an `f64`: exact for every format except f80 and f128, which are rounded to nearest
/// even.
pub fn to_f64(kind: FloatKind, bits: u128) -> f64 {
    match kind {
        FloatKind::F64 => return f64::from_bits(bits as u64),
        FloatKind::F32 => return f64::from(f32::from_bits(bits as u32)),
        _ => {}
    }
    let double = FloatKind::F64.semantics();
    let wide = match decode(kind.semantics(), bits) {
        (negative, Value::Nan) => double.nan(negative),
        (negative, Value::Infinity) => double.infinity(negative),
        (negative, Value::Finite { significand: 0, .. }) => double.assemble(negative, 0),
        (negative, Value::Finite { significand, exponent }) => double.encode(negative, significand, exponent),
    };
    f64::from_bits(wide as u64)
}

/// Parses a decimal literal such as `-1.5e-3` in linear time. The value is rounded to `f64` first, as in MLIR.
pub(crate) fn parse_literal(kind: FloatKind, text: &str) -> Option<u128> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.')?;
    let plain = !whole.is_empty() && all_digits(whole) && all_digits(fraction);
    if !plain || exponent.is_some_and(|digits| digits.is_empty() || !all_digits(digits)) {
        return None;
    }
    Some(from_f64(kind, text.parse().ok()?))
}

/// Parses a bit pattern such as `0x7FC00000`; `None` if it is malformed or wider than the format.
pub(crate) fn parse_hex(kind: FloatKind, text: &str) -> Option<u128> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    let significant = digits.trim_start_matches('0');
    if digits.is_empty() || significant.len() > 32 || !significant.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let bits = if significant.is_empty() { 0 } else { u128::from_str_radix(significant, 16).ok()? };
    let fits = 128 - bits.leading_zeros() <= kind.width();
    fits.then(|| canonical(kind.semantics(), bits))
}

/// Appends the text that MLIR prints for the bits, without a type suffix.
///
/// Six digits in scientific notation if they read back as the same bits; else enough digits for the format's precision
/// if that text has a point; else the bits in hex, as for infinities and NaNs.
pub fn print(kind: FloatKind, bits: u128, out: &mut String) {
    let sem = kind.semantics();
    let (negative, Value::Finite { significand, exponent }) = decode(sem, bits) else {
        return print_hex(canonical(sem, bits), out);
    };
    let start = out.len();
    if negative {
        out.push('-');
    }
    if significand == 0 {
        return out.push_str("0.000000e+00");
    }
    let short = decimal(significand, exponent, SHORT_DIGITS);
    if reads_back(kind, significand, exponent, short) {
        return print_short(short, out);
    }
    let full_digits = 2 + sem.precision * 59 / 196;
    if !print_full(decimal(significand, exponent, full_digits), full_digits, out) {
        out.truncate(start);
        print_hex(canonical(sem, bits), out);
    }
}

fn print_hex(bits: u128, out: &mut String) {
    // Writing to a `String` cannot fail.
    let _ = std::fmt::Write::write_fmt(out, format_args!("0x{bits:X}"));
}

/// Number of digits of the first attempt.
const SHORT_DIGITS: u32 = 6;

/// A decimal number `digits * 10^exponent` without trailing zeros, and its number of digits.
#[derive(Clone, Copy)]
struct Decimal {
    digits: u128,
    exponent: i32,
    count: u32,
}

/// Rounds a binary number to at most `digits` decimal digits, as MLIR does.
///
/// This differs from correct rounding: low bits of the exact value are first *truncated* to about the bits that
/// `digits` need; excess decimal digits are then rounded half up.
fn decimal(significand: u128, exponent: i32, digits: u32) -> Decimal {
    let zeros = significand.trailing_zeros();
    let (scaled, exponent) = truncate_bits(significand >> zeros, exponent + zeros as i32, (digits * 196).div_ceil(59));
    match u64::try_from(scaled) {
        Ok(scaled) => round_u64(scaled, exponent, digits),
        Err(_) => round_u128(scaled, exponent, digits),
    }
}

/// Defines the decimal rounding for one integer width: nearly all values fit the narrow one.
macro_rules! define_round {
    ($name:ident, $int:ty) => {
        fn $name(mut value: $int, mut exponent: i32, digits: u32) -> Decimal {
            let excess = (value.ilog10() + 1).saturating_sub(digits);
            if excess > 0 {
                let tenth = value / (10 as $int).pow(excess - 1);
                value = tenth / 10 + <$int>::from(tenth % 10 >= 5);
                exponent += excess as i32;
            }
            while value % 10 == 0 {
                value /= 10;
                exponent += 1;
            }
            Decimal { digits: value.into(), exponent, count: value.ilog10() + 1 }
        }
    };
}
define_round!(round_u64, u64);
define_round!(round_u128, u128);

/// Powers of five that fit 128 bits.
const POW5: [u128; 56] = {
    let mut table = [1; 56];
    let mut index = 1;
    while index < table.len() {
        table[index] = table[index - 1] * 5;
        index += 1;
    }
    table
};

fn bit_length(value: u128) -> u32 {
    128 - value.leading_zeros()
}

/// Returns the odd number `odd * 2^exponent` as `s * 10^e`, where `s` is truncated to slightly more than `wanted` bits.
/// Exact if it has no more bits than that.
fn truncate_bits(odd: u128, exponent: i32, wanted: u32) -> (u128, i32) {
    let tens = |bits: u32| bits.saturating_sub(wanted) * 59 / 196;
    if exponent >= 0 {
        let exponent = exponent as u32;
        let cut = tens(bit_length(odd) + exponent);
        return (scale(odd, 0, cut, exponent as i32 - cut as i32), cut as i32);
    }
    // With 2^-k = 5^k * 10^-k and 5^k / 10^cut = 5^(k-cut) / 2^cut, no large intermediate is needed.
    let fives = exponent.unsigned_abs();
    let cut = tens(scaled_bit_length(odd, fives));
    (scale(odd, fives.saturating_sub(cut), cut.saturating_sub(fives), -(cut as i32)), cut as i32 - fives as i32)
}

/// Returns `floor(value * 5^up * 2^shift / 5^down)`, where `up` or `down` is zero and the result fits.
fn scale(value: u128, up: u32, down: u32, shift: i32) -> u128 {
    let left = shift.max(0).unsigned_abs();
    let right = shift.min(0).unsigned_abs();
    let up_small = POW5.get(up as usize).and_then(|&power| value.checked_mul(power));
    if let (Some(product), Some(&divisor)) = (up_small, POW5.get(down as usize))
        && bit_length(product) + left <= 128
    {
        let shifted = (product << left).checked_shr(right).unwrap_or(0);
        return if down == 0 { shifted } else { shifted / divisor };
    }
    let mut big = Big::new(value);
    big.mul_pow5(up);
    big.shift_left(left);
    big.shift_right(right);
    big.div_pow5(down);
    big.low()
}

/// The largest power of five in the table below: enough for every f64.
const MAX_TOP: usize = 1100;

/// For each n, the top 64 bits of 5^n, truncated, and its bit length.
static POW5_TOP: [(u64, u32); MAX_TOP] = {
    const LIMBS: usize = 41;
    let mut table = [(1 << 63, 1); MAX_TOP];
    let mut limbs = [0u64; LIMBS];
    limbs[0] = 1;
    let mut used = 1;
    let mut index = 1;
    while index < MAX_TOP {
        let mut carry = 0u128;
        let mut limb = 0;
        while limb < used || carry != 0 {
            carry += limbs[limb] as u128 * 5;
            limbs[limb] = carry as u64;
            carry >>= 64;
            limb += 1;
        }
        if limb > used {
            used = limb;
        }
        let zeros = limbs[used - 1].leading_zeros();
        let below = if used > 1 { limbs[used - 2] } else { 0 };
        let top = ((limbs[used - 1] as u128) << 64 | below as u128) << zeros;
        table[index] = ((top >> 64) as u64, used as u32 * 64 - zeros);
        index += 1;
    }
    table
};

/// Returns the bit length of `value * 5^fives`.
fn scaled_bit_length(value: u128, fives: u32) -> u32 {
    if let (Ok(small), Some(&(top, bits))) = (u64::try_from(value), POW5_TOP.get(fives as usize)) {
        // The exact product lies between these two bounds, which nearly always agree.
        let low = u128::from(small) * u128::from(top);
        let high = low + u128::from(small) - 1;
        if bit_length(low) == bit_length(high) {
            return bit_length(low) + bits - 64;
        }
    }
    let mut big = Big::new(value);
    big.mul_pow5(fives);
    big.bit_length()
}

/// Whether the decimal rounds to `significand * 2^exponent` in the format.
fn reads_back(kind: FloatKind, significand: u128, exponent: i32, short: Decimal) -> bool {
    // The error of six digits is below 2^-16 of the value.
    if kind.semantics().precision < 15 {
        return true;
    }
    let exact = to_f64(FloatKind::F64, FloatKind::F64.semantics().encode(false, significand, exponent));
    const TENS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ];
    if let Some(&ten) = TENS.get(short.exponent.unsigned_abs() as usize)
        && exact > 1e-37
    {
        // Both factors are exact, so the error is one rounding.
        let digits = short.digits as f64;
        let approximate = if short.exponent < 0 { digits / ten } else { digits * ten };
        let error = (approximate - exact).abs() / exact;
        match kind {
            FloatKind::F64 => return approximate == exact,
            FloatKind::F32 if error > 1.2e-7 => return false,
            FloatKind::F32 if error < 2.9e-8 => return true,
            FloatKind::F80 | FloatKind::F128 if error > 1e-14 => return false,
            _ => {}
        }
    }
    let text = || format!("{}e{}", short.digits, short.exponent);
    match kind {
        FloatKind::F32 => text().parse() == Ok(exact as f32),
        FloatKind::F64 => text().parse() == Ok(exact),
        _ => rounds_to(kind.semantics(), significand, exponent, short),
    }
}

/// `reads_back` in exact arithmetic: compares the decimal with the bounds of the interval that rounds to the value.
fn rounds_to(sem: &Semantics, significand: u128, exponent: i32, short: Decimal) -> bool {
    // In units of a quarter ulp, so that the bounds are integers; below a power of two the gap halves.
    let is_power = significand == 1 << (sem.precision - 1);
    let below = if is_power && exponent > sem.min_exponent() - (sem.precision as i32 - 1) { 1 } else { 2 };
    let end = |quarters: u128| {
        let mut big = Big::new(quarters);
        big.mul_pow5(short.exponent.min(0).unsigned_abs());
        big.shift_left(short.exponent.min(0).unsigned_abs() + exponent.max(0).unsigned_abs());
        big
    };
    let mut decimal = Big::new(short.digits * 4);
    decimal.mul_pow5(short.exponent.max(0).unsigned_abs());
    decimal.shift_left(short.exponent.max(0).unsigned_abs() + exponent.min(0).unsigned_abs());
    let (low, high) = (end(significand * 4 - below), end(significand * 4 + 2));
    let ties_here = significand & 1 == 0;
    (low < decimal && decimal < high) || (ties_here && (decimal == low || decimal == high))
}

/// The ASCII digits of a number, held on the stack.
struct Digits {
    buffer: [u8; 40],
    start: usize,
}

impl Digits {
    fn new(mut value: u128) -> Digits {
        let mut digits = Digits { buffer: [b'0'; 40], start: 40 };
        while value > u128::from(u64::MAX) {
            digits.push_front((value % 10) as u8);
            value /= 10;
        }
        let mut low = value as u64;
        while low != 0 {
            digits.push_front((low % 10) as u8);
            low /= 10;
        }
        digits
    }

    fn push_front(&mut self, digit: u8) {
        self.start -= 1;
        self.buffer[self.start] = b'0' + digit;
    }

    fn as_str(&self) -> &str {
        str::from_utf8(&self.buffer[self.start..]).unwrap_or_default()
    }
}

fn push_zeros(count: u32, out: &mut String) {
    out.extend(std::iter::repeat_n('0', count as usize));
}

/// Prints six digits after the point and an exponent of at least two digits.
fn print_short(decimal: Decimal, out: &mut String) {
    let digits = Digits::new(decimal.digits);
    let (first, rest) = digits.as_str().split_at(1);
    out.push_str(first);
    out.push('.');
    out.push_str(rest);
    push_zeros(SHORT_DIGITS + 1 - decimal.count, out);
    push_exponent(decimal, 'e', 2, out);
}

fn push_exponent(decimal: Decimal, letter: char, min_digits: u32, out: &mut String) {
    let exponent = decimal.exponent + decimal.count as i32 - 1;
    out.push(letter);
    out.push(if exponent < 0 { '-' } else { '+' });
    let magnitude = exponent.unsigned_abs();
    let count = magnitude.checked_ilog10().map_or(0, |log| log + 1);
    push_zeros(min_digits.saturating_sub(count), out);
    out.push_str(Digits::new(magnitude.into()).as_str());
}

/// Prints all digits, in plain notation if that takes at most three extra zeros. Returns whether the text has a point:
/// a plain integer would parse as an integer attribute.
fn print_full(decimal: Decimal, precision: u32, out: &mut String) -> bool {
    const MAX_PADDING: i32 = 3;
    let digits = Digits::new(decimal.digits);
    let digits = digits.as_str();
    let (exponent, count) = (decimal.exponent, decimal.count as i32);
    let scientific = if exponent >= 0 {
        exponent > MAX_PADDING || count + exponent > precision as i32
    } else {
        exponent + count <= 0 && -(exponent + count - 1) > MAX_PADDING
    };
    let whole = exponent + count;
    if scientific {
        let (first, rest) = digits.split_at(1);
        out.push_str(first);
        out.push('.');
        out.push_str(if rest.is_empty() { "0" } else { rest });
        push_exponent(decimal, 'E', 1, out);
    } else if exponent >= 0 {
        return false;
    } else if whole > 0 {
        let (whole, fraction) = digits.split_at(whole as usize);
        out.push_str(whole);
        out.push('.');
        out.push_str(fraction);
    } else {
        out.push_str("0.");
        push_zeros(whole.unsigned_abs(), out);
        out.push_str(digits);
    }
    true
}

/// An unsigned big integer, least significant limb first, without leading zero limbs.
#[derive(PartialEq, Eq)]
struct Big {
    limbs: Vec<u64>,
}

/// The exponent of the largest power of five in one limb.
const CHUNK: u32 = 27;

impl Big {
    fn new(value: u128) -> Big {
        let mut big = Big { limbs: vec![value as u64, (value >> 64) as u64] };
        big.trim();
        big
    }

    fn trim(&mut self) {
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
    }

    fn mul_pow5(&mut self, mut power: u32) {
        while power > 0 {
            let step = power.min(CHUNK);
            let factor = POW5[step as usize];
            let mut carry = 0u128;
            for limb in &mut self.limbs {
                carry += u128::from(*limb) * factor;
                *limb = carry as u64;
                carry >>= 64;
            }
            if carry != 0 {
                self.limbs.push(carry as u64);
            }
            power -= step;
        }
    }

    /// Divides by `5^power`, rounding down; dividing in steps gives the same floor.
    fn div_pow5(&mut self, mut power: u32) {
        while power > 0 {
            let step = power.min(CHUNK);
            let divisor = POW5[step as usize];
            let mut rest = 0u128;
            for limb in self.limbs.iter_mut().rev() {
                rest = (rest << 64) | u128::from(*limb);
                *limb = (rest / divisor) as u64;
                rest %= divisor;
            }
            self.trim();
            power -= step;
        }
    }

    fn shift_left(&mut self, count: u32) {
        let (limbs, bits) = ((count / 64) as usize, count % 64);
        let mut carry = 0u128;
        for limb in &mut self.limbs {
            carry |= u128::from(*limb) << bits;
            *limb = carry as u64;
            carry >>= 64;
        }
        self.limbs.push(carry as u64);
        self.limbs.splice(0..0, std::iter::repeat_n(0, limbs));
        self.trim();
    }

    fn shift_right(&mut self, count: u32) {
        let (limbs, bits) = ((count / 64) as usize, count % 64);
        self.limbs.drain(..limbs.min(self.limbs.len()));
        let mut above = 0u64;
        for limb in self.limbs.iter_mut().rev() {
            let pair = u128::from(above) << 64 | u128::from(*limb);
            above = *limb;
            *limb = (pair >> bits) as u64;
        }
        self.trim();
    }

    fn bit_length(&self) -> u32 {
        self.limbs.last().map_or(0, |top| self.limbs.len() as u32 * 64 - top.leading_zeros())
    }

    /// Returns the low 128 bits.
    fn low(&self) -> u128 {
        let limb = |index: usize| u128::from(self.limbs.get(index).copied().unwrap_or(0));
        limb(1) << 64 | limb(0)
    }
}

impl PartialOrd for Big {
    fn partial_cmp(&self, other: &Big) -> Option<std::cmp::Ordering> {
        let lengths = self.limbs.len().cmp(&other.limbs.len());
        Some(lengths.then_with(|| self.limbs.iter().rev().cmp(other.limbs.iter().rev())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: FloatKind, bits: u128) -> String {
        let mut out = String::new();
        print(kind, bits, &mut out);
        out
    }

    fn literal(kind: FloatKind, source: &str) -> String {
        text(kind, parse_literal(kind, source).expect("a literal"))
    }

    /// The expected texts come from mlir-opt 22.
    #[test]
    fn prints_what_mlir_prints() {
        for (kind, source, expected) in [
            (FloatKind::F32, "1.0", "1.000000e+00"),
            (FloatKind::F32, "0.7", "0.699999988"),
            (FloatKind::F32, "-0.0", "-0.000000e+00"),
            (FloatKind::F32, "-1.15609408e+9", "-1.15609408E+9"),
            (FloatKind::F32, "1.41236626e33", "1.41236626E+33"),
            (FloatKind::F32, "-63183.1055", "-63183.1055"),
            (FloatKind::F32, "7.94487e15", "7.944870e+15"),
            (FloatKind::F32, "1.0e999999", "0x7F800000"),
            (FloatKind::F16, "0.1", "9.997550e-02"),
            (FloatKind::F64, "4294967295.0", "0x41EFFFFFFFE00000"),
            (FloatKind::F64, "0.1", "1.000000e-01"),
            (FloatKind::F64, "-1.0e999", "0xFFF0000000000000"),
            (FloatKind::F80, "1.0e50", "1.0000000000000000763E+50"),
            (FloatKind::F8E8M0FNU, "0.0", "5.877470e-39"),
            (FloatKind::F8E8M0FNU, "1.5", "2.000000e+00"),
            (FloatKind::F8E4M3FN, "464.0", "4.480000e+02"),
            (FloatKind::F8E4M3FN, "-1.0e50", "0xFF"),
            (FloatKind::F8E4M3FNUZ, "-1.0e-50", "0.000000e+00"),
            (FloatKind::F4E2M1FN, "-7.0", "-6.000000e+00"),
        ] {
            assert_eq!(literal(kind, source), expected, "{source} : {}", kind.name());
        }
        assert_eq!(text(FloatKind::F32, 0x4DCE_0B5E), "0x4DCE0B5E");
        assert_eq!(text(FloatKind::F16, 0x7E00), "0x7E00");
        assert_eq!(text(FloatKind::F32, 1), "1.401300e-45");
        assert_eq!(text(FloatKind::F80, 1), "3.645200e-4951");
    }

    #[test]
    fn narrow_formats_survive_f64() {
        for kind in FloatKind::ALL.into_iter().filter(|kind| kind.width() <= 16) {
            assert_eq!(FloatKind::from_name(kind.name()), Some(kind));
            for bits in 0..1u128 << kind.width() {
                let value = to_f64(kind, bits);
                assert!(value.is_nan() || from_f64(kind, value) == bits, "{bits:#x} : {}", kind.name());
            }
        }
        for kind in [FloatKind::TF32, FloatKind::F80, FloatKind::F128] {
            for value in [1.0, -0.1, f64::MAX, 5e-324, f64::INFINITY, -0.0] {
                let bits = from_f64(kind, value);
                assert!(kind == FloatKind::TF32 || to_f64(kind, bits).to_bits() == value.to_bits());
            }
        }
    }

    #[test]
    fn reads_only_the_literals_of_the_syntax() {
        for malformed in ["", "-", "1", ".5", "1e5", "inf", "nan", "+1.0", "1.0e", "1.0e+", "1.0f", "--1.0", "1_0.0"] {
            assert_eq!(parse_literal(FloatKind::F32, malformed), None, "{malformed}");
        }
        assert_eq!(parse_literal(FloatKind::F32, "1."), Some(0x3F80_0000));
        let long = format!("0.{}", "3".repeat(1 << 20));
        assert_eq!(literal(FloatKind::F64, &long), "0.33333333333333331");
        assert_eq!(parse_hex(FloatKind::F16, "0x00007C00"), Some(0x7C00));
        assert_eq!(parse_hex(FloatKind::F80, "0x00008000000000000001"), Some(0x0001_8000_0000_0000_0001));
        for malformed in ["0x", "0x10000", "7C00", "0x+1", "0x-1"] {
            assert_eq!(parse_hex(FloatKind::F16, malformed), None, "{malformed}");
        }
    }
}
