//! `Softmax` and its logarithm.

use crate::KernelResult;
use crate::movement::around;
use crate::num::{Num, Real, dispatch, fold_unordered};
use crate::shape::normalize_axis;
use gradus_ir::tensor::Tensor;

/// Applies `f` to every lane along `axis`, or with `flatten` to every row of `Flatten` at `axis`.
fn lanes(op: &str, x: &Tensor, axis: i64, flatten: bool, f: impl Fn(&mut [f64])) -> KernelResult {
    let axis = normalize_axis(axis, x.rank())?;
    let (mut extent, mut inner) = (x.shape()[axis], around(x.shape(), axis).1);
    if flatten {
        (extent, inner) = (extent.saturating_mul(inner), 1);
    }
    dispatch!(float, op, (x), T => {
        let mut out = x.as_slice::<T>().into_owned();
        let mut lane = vec![0.0; if out.is_empty() { 0 } else { extent }];
        for block in out.chunks_exact_mut(extent.saturating_mul(inner).max(1)) {
            for i in 0..inner {
                lane.iter_mut().zip(block[i..].iter().step_by(inner)).for_each(|(l, v)| *l = v.to_f64());
                f(&mut lane);
                block[i..].iter_mut().step_by(inner).zip(&lane).for_each(|(v, &l)| *v = T::from_f64(l));
            }
        }
        Ok(Tensor::from_vec(x.shape(), out))
    })
}

/// Subtracts the maximum to avoid overflow, and returns the sum of exponentials.
fn shifted(lane: &mut [f64]) -> f64 {
    let max = fold_unordered(lane, f64::NEG_INFINITY, f64::max);
    lane.iter_mut().for_each(|v| *v -= max);
    lane.iter().map(|&v| Real::exp(v)).sum()
}

/// `Softmax` (1, 11, 13) of floats along `axis`. `flatten` (before opset 13) flattens the axes from `axis` on.
pub fn softmax(x: &Tensor, axis: i64, flatten: bool) -> KernelResult {
    lanes("softmax", x, axis, flatten, |lane| {
        let sum = shifted(lane);
        lane.iter_mut().for_each(|v| *v = Real::exp(*v) / sum);
    })
}

/// `LogSoftmax` (1, 11, 13): the logarithm of [`softmax`], without underflow.
pub fn log_softmax(x: &Tensor, axis: i64, flatten: bool) -> KernelResult {
    lanes("log_softmax", x, axis, flatten, |lane| {
        let log = Real::ln(shifted(lane));
        lane.iter_mut().for_each(|v| *v -= log);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_inputs_and_both_axes_rules() {
        let x = Tensor::from_vec(&[1, 2, 2], vec![1e4f32, 1e4, 1e4, 1e4]);
        assert_eq!(softmax(&x, 1, false).unwrap().to_f64(), [0.5; 4]);
        assert_eq!(softmax(&x, 1, true).unwrap().to_f64(), [0.25; 4]);
        assert!((log_softmax(&x, -1, false).unwrap().to_f64()[0] + 2f64.ln()).abs() < 1e-6);
        assert!(softmax(&Tensor::from_vec(&[0, 3], Vec::<f32>::new()), 1, false).unwrap().is_empty());
    }
}
