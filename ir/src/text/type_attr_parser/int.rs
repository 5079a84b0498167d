//! Integers of any width: parsing, printing, and conversion from and to bytes.

use crate::attrs::Int;
use crate::types::Signedness;
use smallvec::SmallVec;

/// Maximum width of a literal in bits; parsing and printing take time quadratic in the length.
const MAX_LITERAL_BITS: usize = 1 << 16;
/// Maximum number of decimal digits of such a literal.
const MAX_DECIMAL_DIGITS: usize = 19_729;

/// The reason why a literal is no value of its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum IntError {
    /// The value is out of the range of the type.
    OutOfRange,
    /// The literal has more than [`MAX_LITERAL_BITS`].
    TooLong,
}

/// Little-endian limbs without leading zeros.
type Limbs = SmallVec<[u64; 2]>;

/// Parses the magnitude of a literal: decimal digits, or `0x` and hexadecimal ones.
fn magnitude(digits: &str) -> Result<Limbs, IntError> {
    if let Some(hex) = digits.strip_prefix("0x") {
        let hex = hex.trim_start_matches('0');
        if hex.len() > MAX_LITERAL_BITS / 4 {
            return Err(IntError::TooLong);
        }
        let chunks = hex.as_bytes().rchunks(16);
        return Ok(chunks.map(|chunk| chunk.iter().fold(0, |n, &c| n << 4 | u64::from(hex_value(c)))).collect());
    }
    let digits = digits.trim_start_matches('0');
    if digits.len() > MAX_DECIMAL_DIGITS {
        return Err(IntError::TooLong);
    }
    let mut limbs = Limbs::new();
    for chunk in digits.as_bytes().chunks(18) {
        let scale = 10u64.pow(chunk.len() as u32);
        let mut carry = chunk.iter().fold(0, |n, &c| n * 10 + u64::from(c - b'0'));
        for limb in &mut limbs {
            let wide = u128::from(*limb) * u128::from(scale) + u128::from(carry);
            (*limb, carry) = (wide as u64, (wide >> 64) as u64);
        }
        if carry != 0 {
            limbs.push(carry);
        }
    }
    Ok(limbs)
}

fn hex_value(c: u8) -> u8 {
    (c as char).to_digit(16).unwrap_or(0) as u8
}

fn bit_len(limbs: &[u64]) -> u64 {
    limbs.last().map_or(0, |top| limbs.len() as u64 * 64 - u64::from(top.leading_zeros()))
}

/// Returns the value of a literal as an integer of `width` bits. As in MLIR, a signless integer may be in the signed or
/// the unsigned range, and negative zero is rejected.
pub(super) fn int_value(digits: &str, negative: bool, width: u32, sign: Signedness) -> Result<Int, IntError> {
    let limbs = magnitude(digits)?;
    let bits = bit_len(&limbs);
    if bits > u64::from(width) || (negative && bits == 0) {
        return Err(IntError::OutOfRange);
    }
    // Whether the magnitude has the sign bit set, which among negative numbers is valid only for the minimum.
    let top_bit = bits == u64::from(width) && bits != 0;
    if negative && top_bit {
        let lower = limbs.iter().rev().skip(1).all(|&limb| limb == 0);
        if !(lower && limbs.last().is_some_and(|top| top.is_power_of_two())) {
            return Err(IntError::OutOfRange);
        }
    }
    if sign == Signedness::Signed && top_bit && !negative {
        return Err(IntError::OutOfRange);
    }
    Ok(canonical(limbs, negative, width, sign))
}

/// Returns the canonical form of `limbs`, or of its negation, in `width` bits.
fn canonical(mut limbs: Limbs, negative: bool, width: u32, sign: Signedness) -> Int {
    // An additional limb for the sign.
    limbs.push(0);
    if negative {
        negate(&mut limbs);
    }
    let width = width as usize;
    if sign == Signedness::Unsigned && width < 64 {
        return Int::Small((limbs[0] & ((1 << width) - 1)) as i64);
    }
    // A magnitude with the sign bit set is a negative number in two's complement.
    if !negative && width > 0 && bit_len(trim(&limbs)) == width as u64 {
        let (limb, bit) = ((width - 1) / 64, (width - 1) % 64);
        limbs[limb] |= !0 << bit;
        limbs.truncate(limb + 1);
    }
    shorten(&mut limbs);
    match limbs.as_slice() {
        [] => Int::Small(0),
        [one] => Int::Small(*one as i64),
        _ => Int::Wide(limbs.into_boxed_slice()),
    }
}

fn trim(limbs: &[u64]) -> &[u64] {
    let zeros = limbs.iter().rev().take_while(|&&limb| limb == 0).count();
    &limbs[..limbs.len() - zeros]
}

/// Drops redundant sign limbs.
fn shorten(limbs: &mut Limbs) {
    while let [.., below, top] = limbs.as_slice()
        && *top == ((*below as i64) >> 63) as u64
    {
        limbs.pop();
    }
}

fn negate(limbs: &mut [u64]) {
    let mut carry = true;
    for limb in limbs {
        (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
    }
}

/// Returns the size in bytes of an element of `width` bits.
pub(super) fn byte_size(width: u32) -> usize {
    width.div_ceil(8) as usize
}

/// Appends the low `width` bits of a value, padded with zero bits to whole bytes as in MLIR.
pub(super) fn push_bytes(value: &Int, width: u32, out: &mut Vec<u8>) {
    let size = byte_size(width);
    let start = out.len();
    match value {
        Int::Small(v) => {
            let fill = if *v < 0 { 0xff } else { 0 };
            out.extend_from_slice(&v.to_le_bytes()[..size.min(8)]);
            out.resize(start + size, fill);
        }
        Int::Wide(limbs) => {
            let fill = if limbs.last().is_some_and(|top| (*top as i64) < 0) { 0xff } else { 0 };
            out.extend(limbs.iter().flat_map(|limb| limb.to_le_bytes()).take(size));
            out.resize(start + size, fill);
        }
    }
    if !width.is_multiple_of(8)
        && let Some(top) = out.last_mut()
    {
        *top &= (1 << (width % 8)) - 1;
    }
}

/// Decodes an element of `width` bits; the inverse of [`push_bytes`].
pub(crate) fn int_from_bytes(bytes: &[u8], width: u32, sign: Signedness) -> Int {
    if width <= 64 {
        let mut wide = [0; 8];
        let n = bytes.len().min(8);
        wide[..n].copy_from_slice(&bytes[..n]);
        let (raw, unused) = (u64::from_le_bytes(wide), 64 - width);
        return Int::Small(match (width, sign) {
            (0, _) => 0,
            (64, _) => raw as i64,
            (_, Signedness::Unsigned) => (raw << unused >> unused) as i64,
            _ => ((raw << unused) as i64) >> unused,
        });
    }
    let negative = bytes.get((width as usize - 1) / 8).is_some_and(|top| top >> ((width - 1) % 8) & 1 != 0);
    let mut limbs: Limbs = bytes
        .chunks(8)
        .map(|chunk| {
            let mut wide = [if negative { 0xff } else { 0 }; 8];
            wide[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(wide)
        })
        .collect();
    if negative
        && !width.is_multiple_of(64)
        && let Some(top) = limbs.last_mut()
    {
        *top |= !0 << (width % 64);
    }
    shorten(&mut limbs);
    match limbs.as_slice() {
        [one] => Int::Small(*one as i64),
        _ => Int::Wide(limbs.into_boxed_slice()),
    }
}

/// Appends a value of a type of `width` bits in decimal.
pub(crate) fn push_int(value: &Int, width: u32, sign: Signedness, out: &mut String) {
    match value {
        Int::Small(v) if sign != Signedness::Unsigned || *v >= 0 => push_i64(*v, out),
        Int::Small(v) if width <= 64 => push_u64(*v as u64, out),
        Int::Small(v) => push_limbs(&[*v as u64], width, sign, out),
        Int::Wide(limbs) => push_limbs(limbs, width, sign, out),
    }
}

fn push_limbs(limbs: &[u64], width: u32, sign: Signedness, out: &mut String) {
    let mut limbs = Limbs::from_slice(limbs);
    if limbs.last().is_some_and(|top| (*top as i64) < 0) {
        if sign == Signedness::Unsigned {
            limbs.resize((width as usize).div_ceil(64), !0);
            if !width.is_multiple_of(64)
                && let Some(top) = limbs.last_mut()
            {
                *top &= (1 << (width % 64)) - 1;
            }
        } else {
            out.push('-');
            negate(&mut limbs);
        }
    }
    // Each division produces 18 decimal digits.
    const CHUNK: u64 = 10u64.pow(18);
    let mut chunks = Vec::new();
    let mut len = trim(&limbs).len();
    while len > 0 {
        let mut rest = 0u64;
        for limb in limbs[..len].iter_mut().rev() {
            let wide = u128::from(rest) << 64 | u128::from(*limb);
            (*limb, rest) = ((wide / u128::from(CHUNK)) as u64, (wide % u128::from(CHUNK)) as u64);
        }
        chunks.push(rest);
        len = trim(&limbs[..len]).len();
    }
    push_u64(chunks.pop().unwrap_or(0), out);
    for chunk in chunks.iter().rev() {
        let _ = std::fmt::Write::write_fmt(out, format_args!("{chunk:018}"));
    }
}

/// Appends a decimal number; three times as fast as `write!`.
pub(crate) fn push_i64(value: i64, out: &mut String) {
    if value < 0 {
        out.push('-');
    }
    push_u64(value.unsigned_abs(), out);
}

pub(crate) fn push_u64(mut value: u64, out: &mut String) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
}
