//! Matrix products whose factors are not constant: batched, transposed and scaled ones on f32 and narrower floats by the kernels of table-driven
//! products, with the right factor packed in each run, or by dot products if it has one column; and those of f64 and integers by loops.

use super::addr::elementwise_epilogue;
use super::elementwise::{ElementArithmetic, dispatch, elements, elements_mut};
use super::narrow::Narrow;
use super::operands::Operands;
use super::rows::{FEW, PARTIAL, few_rows};
use super::{Kernel, Prepared, dots, dtype, extents, float, floats, floats_mut, position};
use crate::ElementwiseEpilogue;
use crate::gemm::{Addresses, Isa, Panels, Product, RunSplit};
use crate::workers::Workers;
use gradus_ir::eval::Trap;
use gradus_ir::{DType, Module, OpArgs};
use gradus_networks::addr::{constant_table, groups};
use gradus_networks::layout::AddressTable;
use gradus_reference_kernels::shape::broadcast_shapes;

/// Extents of a product `[M, K]` by `[K, N]`, repeated for each batch.
#[derive(Clone, Debug)]
pub(super) struct Batches {
    sizes: [usize; 3],
    /// The index of the left and right matrix of each batch.
    factors: Vec<[usize; 2]>,
}

impl Batches {
    /// Returns the product of tensors of these extents, as NumPy defines it.
    pub(super) fn new(a: &[usize], b: &[usize]) -> Option<Batches> {
        let (m, k) = match *a {
            [.., m, k] => (m, k),
            [k] => (1, k),
            [] => return None,
        };
        let (depth, n) = match *b {
            [.., k, n] => (k, n),
            [k] => (k, 1),
            [] => return None,
        };
        let [a, b] = [a, b].map(|shape| &shape[..shape.len().saturating_sub(2)]);
        let shape = broadcast_shapes(a, b).ok().filter(|_| k == depth)?;
        let count = shape.iter().product();
        let factors: Vec<_> = (0..count).map(|i| [index_of(i, &shape, a), index_of(i, &shape, b)]).collect();
        // Neighbouring left matrices with the same right one are one matrix.
        let is_one = factors.iter().enumerate().all(|(i, factors)| *factors == [i, 0]);
        Some(match is_one && count > 0 {
            true => Batches { sizes: [m * count, k, n], factors: vec![[0, 0]] },
            false => Batches { sizes: [m, k, n], factors },
        })
    }

    /// Returns the extents M, K and N.
    pub(super) fn sizes(&self) -> [usize; 3] {
        self.sizes
    }

    /// Returns the number of batches.
    pub(super) fn len(&self) -> usize {
        self.factors.len()
    }

    /// Computes the product of each batch, on several threads if that pays: batches, or parts of each of few batches.
    pub(super) fn each<T: Send>(
        &self,
        workers: &Workers,
        out: &mut [T],
        one: impl Fn(&Workers, [usize; 2], &mut [T]) -> Result<(), Trap> + Sync,
    ) -> Result<(), Trap> {
        let [m, k, n] = self.sizes;
        let threads = workers.for_steps((out.len() / 16 + 1).saturating_mul(k));
        let batches = out.chunks_mut((m * n).max(1)).zip(&self.factors);
        if self.factors.len() < threads {
            return batches.into_iter().try_for_each(|(out, &factors)| one(workers, factors, out));
        }
        let single = Workers::default();
        workers.try_share(threads, batches, |(out, &factors)| one(&single, factors, out))
    }
}

/// Returns the index of an element in a tensor that broadcasts to `shape`, where it has index `i`.
fn index_of(mut i: usize, shape: &[usize], of: &[usize]) -> usize {
    let (mut index, mut stride) = (0, 1);
    for (axis, &extent) in shape.iter().enumerate().rev() {
        let own = (axis + of.len()).checked_sub(shape.len()).map_or(1, |axis| of[axis]);
        index += if own == 1 { 0 } else { i % extent * stride };
        (i, stride) = (i / extent.max(1), stride * own);
    }
    index
}

/// Returns the addresses of a row-major matrix.
pub(super) fn dense_rows([rows, depth]: [usize; 2], split: RunSplit) -> Option<Addresses> {
    let [rows, depth] = [i32::try_from(rows).ok()?, i32::try_from(depth).ok()?];
    rows.checked_mul(depth)?;
    let (base, relative): (Vec<i32>, Vec<i32>) = ((0..rows).map(|row| row * depth).collect(), (0..depth).collect());
    Addresses::new(&AddressTable::separable(base, relative), split).ok()
}

/// Prepares `graph.matmul`.
pub(super) fn matmul(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let batches = Batches::new(&extents(m, args.operand_type(0))?, &extents(m, args.operand_type(1))?)?;
    let [rows, depth, columns] = batches.sizes;
    let dtypes = [args.operand_type(0), args.operand_type(1), *args.result_types.first()?].map(|ty| dtype(m, ty));
    let size = super::size(m, args.result_types[0])?;
    let [Some(a), Some(b), Some(c)] = dtypes else { return None };
    if a != b || a != c || batches.factors.len() * rows * columns * a.size() != size {
        return None;
    }
    let Some(narrow) = Narrow::of(args, 0).filter(|_| depth > 0) else {
        return dispatch!(a, T => Some(plain::<T>(batches).into())).filter(|_| a != DType::Bool);
    };
    let product = FloatProduct::new(batches.sizes, [false; 2], 1.0)?;
    let kernel = Kernel::shared([0, 1], move |workers, data, out| {
        let (a, b) = (narrow.floats(data[0]), narrow.floats(data[1]));
        narrow.write(out, |out| {
            batches.each(workers, out, |workers, [i, j], out| {
                let (a, b) = (&a[i * rows * depth..][..rows * depth], &b[j * depth * columns..][..depth * columns]);
                product.compute(workers, a, b, None, out)
            })
        })
    });
    Some(kernel.into())
}

/// Creates a kernel of loops over rows: each adds multiples of the rows of the right factor.
fn plain<T: ElementArithmetic>(batches: Batches) -> Kernel {
    Kernel::shared([0, 1], move |workers, data, out| {
        let (a, b): (&[T], &[T]) = (elements(data[0]), elements(data[1]));
        let [rows, depth, columns] = batches.sizes;
        batches.each(workers, elements_mut(out), |_, [i, j], out| {
            let (a, b) = (&a[i * rows * depth..], &b[j * depth * columns..]);
            out.fill(T::ZERO);
            for (i, out) in out.chunks_exact_mut(columns.max(1)).enumerate() {
                for (&x, b) in a[i * depth..][..depth].iter().zip(b.chunks_exact(columns.max(1))) {
                    out.iter_mut().zip(b).for_each(|(y, &b)| *y = y.plus(x.times(b)));
                }
            }
            Ok(())
        })
    })
}

/// Prepares `addr.gemm` and `addr.indirect_gemm` on f64 and integers that have no other kernel.
pub(super) fn table(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let (kind, result) = (dtype(m, args.operand_type(0))?, dtype(m, *args.result_types.first()?)?);
    let (a, b) = (position(args, "a")?, position(args, "b")?);
    let same = [a, b].map(|i| dtype(m, args.operand_type(i))) == [Some(kind); 2] && kind == result;
    if !same || kind == DType::Bool || elementwise_epilogue(args) != Some(ElementwiseEpilogue::NONE) {
        return None;
    }
    dispatch!(kind, T => tabulated::<T>(m, args))
}

fn tabulated<T: ElementArithmetic>(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let addresses = Addresses::new(&constant_table(args)?, RunSplit::BYTES).ok()?;
    let &[columns, depth] = &extents(m, args.operand_type(position(args, "b")?))?[..] else { return None };
    let groups = groups(args).filter(|&groups| groups > 0)?;
    let (rows, each) = (addresses.rows() / groups, columns / groups);
    let size = extents(m, args.result_types[0])?.iter().product::<usize>();
    if depth != addresses.summands() || size != rows * columns {
        return None;
    }
    let mut operands = Operands::new(args);
    let [b, bias, add] = ["b", "bias", "add"].map(|name| operands.input(name));
    let b = b?;
    let kernel = Kernel::shared(operands.inputs()?, move |workers, data, out| {
        let (a, b): (&[T], &[T]) = (elements(data[0]), elements(data[b]));
        let [bias, add] = [bias, add].map(|i| i.map(|i| elements::<T>(data[i])));
        if !addresses.are_in(a.len()) {
            return Err(Trap::Ub(format!("an address is outside a buffer of {} elements", a.len())));
        }
        let out: &mut [T] = elements_mut(out);
        let threads = workers.for_steps((out.len() / 4).saturating_mul(depth));
        workers.share(threads, out.chunks_mut(columns.max(1)).enumerate(), |(row, out)| {
            let mut left = Vec::with_capacity(depth);
            for (n, y) in out.iter_mut().enumerate() {
                if n % each == 0 {
                    left.clear();
                    for start in addresses.starts(n / each * rows + row) {
                        match start {
                            Some(start) => left.extend_from_slice(&a[start..][..addresses.run()]),
                            None => left.resize(left.len() + addresses.run(), T::ZERO),
                        }
                    }
                }
                let products = left.iter().zip(&b[n * depth..]).map(|(&x, &b)| x.times(b));
                let sum = products.fold(T::ZERO, T::plus);
                let sum = bias.map_or(sum, |bias| sum.plus(bias[n]));
                *y = add.map_or(sum, |add| sum.plus(add[row * columns + n]));
            }
        });
        Ok(())
    });
    Some(kernel.into())
}

/// Prepares `graph.gemm` on f32.
pub(super) fn gemm(m: &Module, args: &OpArgs<'_>) -> Option<Prepared> {
    let trans = ["transA", "transB"].map(|name| args.flag(name));
    let shape = |i: usize| {
        let &[rows, columns] = &extents(m, args.operand_type(i))?[..] else { return None };
        let shape = if trans[i] { [columns, rows] } else { [rows, columns] };
        (dtype(m, args.operand_type(i)) == Some(DType::F32)).then_some(shape)
    };
    let ([rows, depth], [same, columns]) = (shape(0)?, shape(1)?);
    let result = extents(m, *args.result_types.first()?)?;
    if depth != same || result != [rows, columns] {
        return None;
    }
    let product = FloatProduct::new([rows, depth, columns], trans, float(args, "alpha").unwrap_or(1.0))?;
    let (c, beta) = (position(args, "c"), float(args, "beta").unwrap_or(1.0));
    let summand = match c {
        Some(c) if dtype(m, args.operand_type(c)) == Some(DType::F32) => {
            let shape = extents(m, args.operand_type(c))?;
            broadcast_shapes(&result, &shape).ok().filter(|all| *all == result)?;
            Some(shape)
        }
        Some(_) => return None,
        None => None,
    };
    let kernel = Kernel::shared([0, 1].into_iter().chain(c), move |workers, data, out| {
        let add = summand.as_ref().map(|shape| {
            let c = floats(data[2]);
            (0..out.len() / 4).map(|i| beta * c[index_of(i, &result, shape)]).collect::<Vec<f32>>()
        });
        product.compute(workers, floats(data[0]), floats(data[1]), add.as_deref(), floats_mut(out))
    });
    Some(kernel.into())
}

/// A product of f32 matrices.
pub(super) struct FloatProduct {
    sizes: [usize; 3],
    /// Whether each factor is transposed.
    trans: [bool; 2],
    alpha: f32,
    addresses: Addresses,
}

impl FloatProduct {
    pub(super) fn new(sizes: [usize; 3], trans: [bool; 2], alpha: f32) -> Option<FloatProduct> {
        let addresses = dense_rows([sizes[0], sizes[1]], RunSplit::FLOATS)?;
        Some(FloatProduct { sizes, trans, alpha, addresses })
    }

    /// Computes `alpha * a * b + add`.
    pub(super) fn compute(
        &self,
        workers: &Workers,
        a: &[f32],
        b: &[f32],
        add: Option<&[f32]>,
        out: &mut [f32],
    ) -> Result<(), Trap> {
        let [rows, depth, columns] = self.sizes;
        let transposed: Vec<f32>;
        let a = if self.trans[0] {
            transposed = (0..rows * depth).map(|i| a[i % depth * rows + i / depth]).collect();
            &transposed
        } else {
            a
        };
        if columns == 1 && depth > 0 {
            dots::times_vector(workers, a, b, out);
            if self.alpha != 1.0 {
                out.iter_mut().for_each(|y| *y *= self.alpha);
            }
            out.iter_mut().zip(add.into_iter().flatten()).for_each(|(y, add)| *y += add);
            return Ok(());
        }
        if rows <= FEW && depth > 0 && columns >= PARTIAL && !self.trans[1] && self.alpha == 1.0 && add.is_none() {
            few_rows(workers, a, b, self.sizes, out);
            return Ok(());
        }
        let (isa, sizes) = (Isa::best(), [columns, depth]);
        let b = match self.trans[1] {
            true => Panels::new(isa, sizes, |n, k| self.alpha * b[n * depth + k], None),
            false => Panels::of_matrix(isa, sizes, b, self.alpha),
        };
        let b = b?;
        let product = Product { a, addresses: &self.addresses, b: &b, add, elementwise: ElementwiseEpilogue::NONE };
        product.compute(workers, out).map_err(Trap::from)
    }
}
