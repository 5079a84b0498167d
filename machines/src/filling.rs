//! Operands with poison elements: a machine computes with bytes, so that it runs on several fillings of them.

use gradus_ir::Tensor;
use gradus_ir::eval::{Datum, PoisonTensor, Trap};
use gradus_ir::random::Random;

/// The bytes of fillings other than zeros: large numbers of both signs, as floats and as integers. The others are random.
const BYTES: [u8; 2] = [0x7b, 0xfb];
/// Number of fillings of random bytes: equal ones may saturate alike.
const RANDOM: usize = 2;

/// Runs a machine on operands, and returns its results with what else it returns. Where the results of fillings of poison elements differ,
/// they depend on these elements: they are poison.
///
/// # Errors
/// Operands that are no tensors, and those of the run.
pub(crate) fn run_filled<S>(
    operands: &[Datum],
    mut run: impl FnMut(&[Tensor]) -> Result<(Vec<Tensor>, S), Trap>,
) -> Result<(Vec<Datum>, S), Trap> {
    let zeros = operands.iter().map(Datum::frozen).collect::<Result<Vec<_>, _>>()?;
    let (results, counts) = run(&zeros)?;
    let mut differs: Vec<Vec<bool>> = results.iter().map(|result| vec![false; result.len()]).collect();
    let (mut random, has_poison) = (Random::of("fillings"), operands.iter().any(Datum::has_poison));
    for number in 0..if has_poison { BYTES.len() + RANDOM } else { 0 } {
        let mut byte = || BYTES.get(number).copied().unwrap_or_else(|| random.next() as u8);
        let filled = |operand: &Datum| match operand {
            Datum::PoisonTensor(poison) => Ok(poison.filled(&mut byte)),
            other => other.frozen(),
        };
        let (others, _) = run(&operands.iter().map(filled).collect::<Result<Vec<_>, _>>()?)?;
        for (differs, (a, b)) in differs.iter_mut().zip(results.iter().zip(&others)) {
            let size = a.dtype().size();
            let elements = a.bytes().chunks(size).zip(b.bytes().chunks(size));
            differs.iter_mut().zip(elements).for_each(|(differs, (a, b))| *differs |= a != b);
        }
    }
    let masked = results.into_iter().zip(differs).map(|(result, differs)| PoisonTensor::datum(result, differs));
    Ok((masked.collect(), counts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gradus_ir::DType;

    #[test]
    fn results_that_depend_on_poison_are_poison() {
        let tensor = |bytes: &[u8]| Tensor::new(DType::U8, vec![bytes.len()], bytes.to_vec().into()).expect("it fits");
        let operand = PoisonTensor::datum(tensor(&[7, 0, 9]), vec![false, true, false]);
        let mut runs = 0;
        // One result has all elements, one has a defined one, and one has none of them.
        let run = |operands: &[Tensor]| {
            runs += 1;
            let [a, b, c] = operands[0].bytes()[..] else { panic!("there are three") };
            Ok((vec![tensor(&[a, b, c]), tensor(&[c]), tensor(&[1])], runs))
        };
        let (results, first) = run_filled(&[operand], run).expect("it runs");
        let masks: Vec<Option<Vec<bool>>> =
            results.iter().map(|result| result.masked().and_then(|(_, mask)| mask.map(<[bool]>::to_vec))).collect();
        assert_eq!((masks, first, runs), (vec![Some(vec![false, true, false]), None, None], 1, 5));
    }
}
