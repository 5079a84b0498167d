//! A scale, a shift and perhaps a relu in one loop: batch normalization that no convolution contains, as before the convolutions
//! of densely connected networks.

use super::function::{Argument, Binary, Unary};
use super::narrow::Element;
use super::nest::Along;
use super::stage::{Source, Stage};

/// `x * scale + shift` in operands, by their numbers, and perhaps its relu.
#[derive(Clone, Copy, Debug)]
pub(super) struct Affine {
    pub(super) x: usize,
    scale: usize,
    shift: usize,
    is_relu: bool,
}

impl Affine {
    /// Recognizes stages. Along rows, `x` has many elements, and the factors, other operands, have both many or both one.
    pub(super) fn of(stages: &[Stage], along: &[Along]) -> Option<Affine> {
        use Source::{Operand, Previous};
        let (stages, is_relu) = match stages {
            [rest @ .., Stage::One(Unary::Relu, Previous)] => (rest, true),
            all => (all, false),
        };
        let [Stage::Two(Binary::Mul, Operand(a), Operand(b)), Stage::Two(Binary::Add, first, second)] = *stages else {
            return None;
        };
        let ((Previous, Operand(shift)) | (Operand(shift), Previous)) = (first, second) else { return None };
        let is_one = |operand: usize| along[operand] == Along::One;
        let fits = |&(x, scale): &(usize, usize)| {
            along[x] == Along::Many && ![scale, shift].contains(&x) && is_one(scale) == is_one(shift)
        };
        let (x, scale) = [(a, b), (b, a)].into_iter().find(fits)?;
        Some(Affine { x, scale, shift, is_relu })
    }

    /// Computes a chunk; `x` is in `out` if it is not given. Products and sums are rounded.
    #[inline(always)]
    pub(super) fn apply<'a, T: Element>(
        self,
        x: Option<&[T]>,
        argument: impl Fn(usize) -> Argument<'a>,
        out: &mut [T],
    ) {
        let factors = [argument(self.scale), argument(self.shift)];
        match self.is_relu {
            true => scaled(x, factors, out, |y| if y < 0.0 { 0.0 } else { y }),
            false => scaled(x, factors, out, |y| y),
        }
    }
}

#[inline(always)]
fn scaled<T: Element>(x: Option<&[T]>, factors: [Argument<'_>; 2], out: &mut [T], last: impl Fn(f32) -> f32) {
    use Argument::{Many, One};
    let f = |x: T, scale: f32, shift: f32| T::narrow(last(x.wide() * scale + shift));
    match (x, factors) {
        (Some(x), [Many(scale), Many(shift)]) => {
            out.iter_mut().zip(x).zip(scale.iter().zip(shift)).for_each(|((y, &x), (&a, &b))| *y = f(x, a, b));
        }
        (None, [Many(scale), Many(shift)]) => {
            out.iter_mut().zip(scale.iter().zip(shift)).for_each(|(y, (&a, &b))| *y = f(*y, a, b));
        }
        (Some(x), [One(scale), One(shift)]) => out.iter_mut().zip(x).for_each(|(y, &x)| *y = f(x, scale, shift)),
        (None, [One(scale), One(shift)]) => out.iter_mut().for_each(|y| *y = f(*y, scale, shift)),
        _ => unreachable!("the factors of an affine map are of one kind"),
    }
}
