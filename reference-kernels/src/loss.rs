//! Loss functions.

use crate::KernelResult;
use crate::cast::from_f64s;
use crate::index::take_elements;
use crate::softmax::log_softmax;
use gradus_ir::Violation;
use gradus_ir::tensor::Tensor;

/// The reduction of sample losses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum LossReduction {
    /// No reduction.
    None,
    /// Weighted mean.
    #[default]
    Mean,
    /// Sum.
    Sum,
}

/// `NegativeLogLikelihoodLoss` (12, 13, 22): the negative log-probability of each target class in `[N, C, D...]`, times
/// the class weight. Targets equal to `ignored` do not contribute.
pub fn negative_log_likelihood_loss(
    x: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    ignored: Option<i64>,
    reduction: LossReduction,
) -> KernelResult {
    let wrong = || Violation::from(format!("a loss of {x:?} for {target:?} with weights {weight:?}"));
    let (&[n, c, ref rest @ ..], Some(classes)) = (x.shape(), target.to_i64()) else { return Err(wrong()) };
    let fits = target.shape().split_first() == Some((&n, rest)) && weight.is_none_or(|w| w.shape() == [c]);
    if !fits || !x.dtype().is_float() {
        return Err(wrong());
    }
    let weights = weight.map(Tensor::to_f64);
    let inner = classes.len().checked_div(n).unwrap_or(0);
    let mut at = Vec::with_capacity(classes.len());
    for (i, &class) in classes.iter().enumerate().filter(|(_, class)| ignored != Some(**class)) {
        let class = usize::try_from(class).ok().filter(|&k| k < c).ok_or_else(wrong)?;
        at.push((i / inner * c + class) * inner + i % inner);
    }
    // Only the targets' elements are converted.
    let mut logs = take_elements(x, &[at.len()], &at)?.to_f64().into_iter();
    let (mut losses, mut total) = (Vec::with_capacity(classes.len()), 0.0);
    for &class in &classes {
        if ignored == Some(class) {
            losses.push(0.0);
            continue;
        }
        let weight = weights.as_ref().map_or(1.0, |w| w[class as usize]);
        losses.push(-logs.next().unwrap_or_default() * weight);
        total += weight;
    }
    let sum = || losses.iter().sum::<f64>();
    Ok(match reduction {
        LossReduction::None => from_f64s(x.dtype(), target.shape(), losses),
        LossReduction::Sum => from_f64s(x.dtype(), &[], vec![sum()]),
        LossReduction::Mean => from_f64s(x.dtype(), &[], vec![sum() / total]),
    })
}

/// `SoftmaxCrossEntropyLoss` (12, 13): [`negative_log_likelihood_loss`] of the [`log_softmax`] of scores; the latter is
/// the second result.
pub fn softmax_cross_entropy_loss(
    scores: &Tensor,
    labels: &Tensor,
    weight: Option<&Tensor>,
    ignored: Option<i64>,
    reduction: LossReduction,
) -> Result<[Tensor; 2], Violation> {
    let logs = log_softmax(scores, 1, false)?;
    Ok([negative_log_likelihood_loss(&logs, labels, weight, ignored, reduction)?, logs])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_weighted() {
        let x = Tensor::from_vec(&[2, 3], vec![-1f32, -2.0, -3.0, -4.0, -5.0, -6.0]);
        let (target, weight) = (Tensor::from_vec(&[2], vec![2i64, 0]), Tensor::from_vec(&[3], vec![3f32, 1.0, 1.0]));
        let run =
            |weight, ignored, how| negative_log_likelihood_loss(&x, &target, weight, ignored, how).unwrap().to_f64();
        assert_eq!(run(None, None, LossReduction::None), [3.0, 4.0]);
        assert_eq!(run(Some(&weight), None, LossReduction::Mean), [15.0 / 4.0]);
        assert_eq!(run(Some(&weight), Some(2), LossReduction::Sum), [12.0]);
        assert!(negative_log_likelihood_loss(&x, &weight, None, None, LossReduction::Sum).is_err());
    }
}
