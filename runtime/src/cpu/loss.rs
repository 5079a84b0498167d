//! Losses, and determinants: small results of whole tensors, in f64.

use super::elementwise::elements;
use super::narrow::Narrow;
use super::operands::{Operands, have_extents};
use super::{Kernel, Prepared, dtype, extents};
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs};
use gradus_networks::graph::loss_reduction;
use gradus_reference_kernels::{LossReduction, matrix_det};

/// Prepares `graph.negative_log_likelihood_loss` of floats of at most 32 bits.
pub(super) fn negative_log_likelihood(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (kind, reduction, ignored) = (Narrow::of(args, 0)?, loss_reduction(args).ok()?, args.int("ignore_index"));
    let [batch, classes, ref rest @ ..] = extents(m, args.operand_type(0))?[..] else { return None };
    let (inner, targets) = (rest.iter().product::<usize>(), dtype(m, args.operand_type(1))?);
    let is_known = matches!(targets, DType::I32 | DType::I64)
        && have_extents(args, "target", &[&[batch], rest].concat())
        && have_extents(args, "weight", &[classes]);
    (is_known && inner > 0).then_some(())?;
    let mut operands = Operands::new(args);
    let [target, weight] = ["target", "weight"].map(|name| operands.input(name));
    let kernel = Kernel::new(operands.inputs()?, move |data, out| {
        let (x, target) = (kind.floats(data[0]), data[target.unwrap_or(0)]);
        let weights = weight.map(|i| kind.floats(data[i]));
        let class = |i: usize| match targets {
            DType::I32 => i64::from(elements::<i32>(target)[i]),
            _ => elements::<i64>(target)[i],
        };
        let (mut losses, mut total) = (vec![0.0; batch * inner], 0.0);
        for (i, loss) in losses.iter_mut().enumerate() {
            let class = class(i);
            if ignored == Some(class) {
                continue;
            }
            let class = usize::try_from(class).ok().filter(|&class| class < classes);
            let class = class.ok_or_else(|| Trap::unsupported("a target that is no class"))?;
            let weight = weights.as_ref().map_or(1.0, |weights| f64::from(weights[class]));
            *loss = -f64::from(x[(i / inner * classes + class) * inner + i % inner]) * weight;
            total += weight;
        }
        let sum: f64 = losses.iter().sum();
        kind.write(out, |out| {
            match reduction {
                LossReduction::None => out.iter_mut().zip(&losses).for_each(|(y, &loss)| *y = loss as f32),
                LossReduction::Sum => out.fill(sum as f32),
                LossReduction::Mean => out.fill((sum / total) as f32),
            }
            Ok(())
        })
    });
    Some(kernel.into())
}

/// Prepares `graph.det` of floats of at most 32 bits.
pub(super) fn det(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (kind, shape) = (Narrow::of(args, 0)?, extents(m, args.operand_type(0))?);
    let &n = shape.last().filter(|&&n| n > 0)?;
    let kernel = Kernel::shared([0], move |workers, data, out| {
        let x = kind.floats(data[0]);
        kind.write(out, |out| {
            let threads = workers.for_steps(x.len().saturating_mul(n) / 4);
            workers.share(threads, x.chunks_exact(n * n).zip(out), |(matrix, y)| {
                let mut matrix: Vec<f64> = matrix.iter().map(|&x| f64::from(x)).collect();
                *y = matrix_det(&mut matrix, n) as f32;
            });
            Ok(())
        })
    });
    Some(kernel.into())
}
