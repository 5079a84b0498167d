//! The operands of programs, and the op's result from theirs.

use super::im2col::PatchedImage;
use super::terms::elements;
use crate::emit::Emitter;
use gradus_ir::{Module, Tensor, Type, Value};

/// The operands of a product of batches.
pub(super) struct MatrixProduct {
    pub left: Stack,
    pub right: Stack,
    /// Whether the result is that of the transposes, and the extents of each of its matrices.
    pub is_turned: bool,
    pub matrix: [usize; 2],
    pub result: Vec<i64>,
}

/// The matrices of an operand, `[count, rows, columns]`, which the program reads below each other.
pub(super) struct Stack {
    pub value: Value,
    pub count: usize,
    /// Extents of each matrix of the program.
    pub matrix: [usize; 2],
    /// Whether the value has their transposes.
    pub is_turned: bool,
}

impl Stack {
    /// Whether the host reorders elements.
    fn is_moved(&self, m: &Module) -> bool {
        self.is_turned && !self.matrix.contains(&1) && m.constant(self.value).is_none()
    }

    fn matrix(&self, e: &mut Emitter<'_, '_>) -> Option<Value> {
        let ([rows, columns], mut value) = (self.matrix, self.value);
        if self.is_turned {
            value = transposes(e, value, [self.count, columns, rows])?;
        }
        e.reshape(value, &[(self.count * rows) as i64, columns as i64])
    }
}

/// Emits the transposes of `count` matrices. Those of vectors have the same order of elements.
fn transposes(e: &mut Emitter<'_, '_>, value: Value, [count, rows, columns]: [usize; 3]) -> Option<Value> {
    if rows == 1 || columns == 1 {
        return Some(value);
    }
    let [count, rows, columns] = [count, rows, columns].map(|d| d as i64);
    if count == 1 {
        let value = e.reshape(value, &[rows, columns])?;
        return e.transpose(value);
    }
    let value = e.reshape(value, &[count, rows, columns])?;
    e.permute(value, &[0, 2, 1])
}

impl MatrixProduct {
    /// Returns the number of elements that the host moves to transpose operands; those of constants are transposed once.
    pub fn moved(&self, m: &Module) -> u64 {
        let moved = [&self.left, &self.right].into_iter().filter(|stack| stack.is_moved(m));
        let of_stack = |stack: &Stack| elements([stack.count, stack.matrix[0], stack.matrix[1]]);
        moved.map(of_stack).fold(0, u64::saturating_add)
    }

    /// Whether the host transposes the result.
    pub fn turns_result(&self) -> bool {
        self.is_turned && !self.matrix.contains(&1)
    }

    /// Emits both operands of the program.
    pub fn operands(&self, e: &mut Emitter<'_, '_>) -> Option<[Value; 2]> {
        Some([self.left.matrix(e)?, self.right.matrix(e)?])
    }

    /// Emits the op's result from the rows of all parts.
    pub fn result(&self, e: &mut Emitter<'_, '_>, value: Value) -> Option<Value> {
        let [rows, columns] = self.matrix;
        let count = self.result.iter().product::<i64>() as usize / (rows * columns);
        let value = if self.is_turned { transposes(e, value, [count, rows, columns])? } else { value };
        e.reshape(value, &self.result)
    }
}

/// The filters and the image of a convolution, with the extents of its result.
pub(super) struct PatchProduct {
    pub filters: Filters,
    pub image: PatchedImage,
    pub result: Vec<i64>,
}

/// The filters of a convolution as a matrix.
pub(super) enum Filters {
    /// `[M, C, K...]`, of which each part has a group at most.
    Whole(Value),
    /// A constant, with zero points for the channels of other groups.
    Constant(Tensor, Type),
}

impl PatchProduct {
    /// Returns the number of elements that the host moves to make the matrix of patches.
    pub fn moved(&self) -> u64 {
        self.image.moved()
    }

    /// Whether the host reorders the result.
    pub fn turns_result(&self) -> bool {
        self.image.batch > 1
    }

    /// Emits the filters, `[M, K]`, and the patches of all groups.
    pub fn operands(&self, e: &mut Emitter<'_, '_>) -> Option<[Value; 2]> {
        let filters = match &self.filters {
            Filters::Whole(value) => *value,
            Filters::Constant(tensor, element) => e.constant(tensor, *element)?,
        };
        let extents = e.m().ctx.static_shape(e.m().value_type(filters))?;
        let matrix = [extents[0], extents[1..].iter().product()];
        Some([e.reshape(filters, &matrix)?, self.image.matrix(e)?])
    }

    /// Emits the op's result from the rows of all parts.
    pub fn result(&self, e: &mut Emitter<'_, '_>, mut value: Value) -> Option<Value> {
        if self.turns_result() {
            let split = [self.result[1], self.image.batch as i64, self.image.positions() as i64];
            value = e.reshape(value, &split)?;
            value = e.permute(value, &[1, 0, 2])?;
        }
        e.reshape(value, &self.result)
    }
}
