//! Dropout in training: zeroes random elements and scales the others.
//!
//! ONNX leaves the random generator open. Its tests use NumPy's Mersenne Twister (Matsumoto and Nishimura, 1998),
//! seeded with the `seed` attribute, which is reproduced here.

use crate::{cast, mul};
use gradus_ir::{DType, Tensor, Violation};

const N: usize = 624;
const M: usize = 397;

/// The 32-bit Mersenne Twister.
struct Twister {
    state: [u32; N],
    next: usize,
}

impl Twister {
    fn new(seed: u32) -> Twister {
        let mut state = [seed; N];
        for i in 1..N {
            let previous = state[i - 1];
            state[i] = (previous ^ (previous >> 30)).wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        }
        Twister { state, next: N }
    }

    fn refill(&mut self) {
        for i in 0..N {
            let y = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % N] & 0x7fff_ffff);
            let twist = if y & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[i] = self.state[(i + M) % N] ^ (y >> 1) ^ twist;
        }
        self.next = 0;
    }

    fn word(&mut self) -> u32 {
        if self.next == N {
            self.refill();
        }
        let mut y = self.state[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    /// Returns a uniform number in [0, 1) with 53 random bits.
    fn uniform(&mut self) -> f64 {
        let (high, low) = (f64::from(self.word() >> 5), f64::from(self.word() >> 6));
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }
}

/// `Dropout` (13, training mode): returns the result and the mask of kept elements. `ratio` is the dropped fraction in
/// [0, 1); 0 keeps everything.
pub fn dropout(x: &Tensor, ratio: f64, seed: i64) -> Result<[Tensor; 2], Violation> {
    if !(0.0..1.0).contains(&ratio) {
        return Err(format!("a dropout ratio of {ratio} is not in 0..1").into());
    }
    if ratio == 0.0 {
        return Ok([x.clone(), Tensor::from_bools(x.shape(), vec![1; x.len()])]);
    }
    let mut random = Twister::new(seed as u32);
    let keep: Vec<u8> = (0..x.len()).map(|_| u8::from(random.uniform() >= ratio)).collect();
    let mask = Tensor::from_bools(x.shape(), keep);
    let scale = cast(&Tensor::scalar(1.0 / (1.0 - ratio)), x.dtype())?;
    let kept = mul(x, &cast(&mask, x.dtype())?)?;
    Ok([mul(&kept, &scale)?, mask])
}

/// Returns the scalar ratio.
pub fn ratio_of(t: &Tensor) -> Result<f64, Violation> {
    match (t.dtype(), t.to_f64()[..].first()) {
        (DType::F16 | DType::BF16 | DType::F32 | DType::F64, Some(&v)) => Ok(v),
        _ => Err("the dropout ratio must be one float".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_numpys() {
        // numpy.random.seed(0); numpy.random.uniform(0, 1, 3)
        let mut random = Twister::new(0);
        let first: Vec<f64> = (0..3).map(|_| random.uniform()).collect();
        assert_eq!(first, [0.548_813_503_927_324_8, 0.715_189_366_372_419_5, 0.602_763_376_071_643_9]);
    }
}
