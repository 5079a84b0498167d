//! Terms that are added once per output, and factors of requantizations.

use super::Shape;

/// Zero points and bias of a product. An empty list stands for zeros, one element for all.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Terms {
    /// Zero points of the rows of the left matrix.
    pub a_zeros: Vec<i32>,
    /// Zero points of the columns of the right matrix.
    pub b_zeros: Vec<i32>,
    /// Bias of the rows.
    pub bias: Vec<i32>,
}

impl Terms {
    /// Whether all terms are zero.
    pub fn is_zero(&self) -> bool {
        [&self.a_zeros, &self.b_zeros, &self.bias].into_iter().flatten().all(|&term| term == 0)
    }

    /// Returns the sums with which the product of the bytes begins, `[M, N]`:
    /// `bias[m] - a_zero[m] * sum_k b[k, n] - b_zero[n] * sum_k a[m, k] + K * a_zero[m] * b_zero[n]`.
    pub fn initial(&self, shape: Shape, a: &[i8], b: &[i8]) -> Vec<i32> {
        let Shape { rows, depth, columns } = shape;
        let at = |list: &[i32], i: usize| if list.len() == 1 { list[0] } else { list.get(i).copied().unwrap_or(0) };
        let row_sum = |row: usize| a[row * depth..][..depth].iter().map(|&x| i32::from(x)).sum::<i32>();
        let column_sum = |column: usize| (0..depth).map(|k| i32::from(b[k * columns + column])).sum::<i32>();
        let needs_columns = self.a_zeros.iter().any(|&zero| zero != 0);
        let column_sums: Vec<i32> = (0..columns).map(|n| if needs_columns { column_sum(n) } else { 0 }).collect();
        let mut initial = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            let (zero, bias, sum) = (at(&self.a_zeros, row), at(&self.bias, row), row_sum(row));
            initial.extend(column_sums.iter().enumerate().map(|(column, &column_sum)| {
                let other = at(&self.b_zeros, column);
                let both = (depth as i32).wrapping_mul(zero).wrapping_mul(other);
                let terms = zero.wrapping_mul(column_sum).wrapping_add(other.wrapping_mul(sum));
                bias.wrapping_sub(terms).wrapping_add(both)
            }));
        }
        initial
    }
}

/// Returns the factor of a requantization, 24 bits and a shift, that is equal to a positive float; `None` if there is none.
pub fn scale_of(scale: f32) -> Option<i32> {
    let bits = scale.to_bits();
    let (exponent, fraction) = (bits >> 23, bits & 0x7f_ffff);
    // Zero, subnormals, infinities, NaNs and negative numbers have no factor.
    if !(1..255).contains(&exponent) {
        return None;
    }
    let (mut mantissa, mut shift) = (fraction | 1 << 23, 127 + 23 - exponent as i32);
    while mantissa & 1 == 0 && shift > 63 {
        (mantissa, shift) = (mantissa >> 1, shift - 1);
    }
    (0..=63).contains(&shift).then_some((mantissa << 8) as i32 | shift)
}

#[cfg(test)]
mod tests {
    use super::scale_of;

    #[test]
    fn factors_equal_their_floats() {
        for scale in [1.0, 0.5, 1.341_344_2e-4, 0.333_333_34, 123.456, 1e-9, 8_388_608.0_f32] {
            let factor = scale_of(scale).expect("has a factor");
            let value = f64::from(factor as u32 >> 8) * 2_f64.powi(-(factor & 0xff));
            assert_eq!(value, f64::from(scale));
        }
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-30, 1e30] {
            assert_eq!(scale_of(scale), None);
        }
    }
}
