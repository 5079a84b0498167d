//! Programs of products as binaries.

use super::instruction::{decode_all, encode_all};
use super::product::{Layout, LoopOrder, Mapping, ProductPlan, ProductProgram, Shape};
use super::{NAME, NnaMachine};
use crate::Binary;

/// Numbers of the plan in a binary: extents, mapping, order, resident kernels, whether columns are padded, whether sums have initial
/// values, whether they are requantized, and the zero point.
const NUMBERS: usize = 10;

impl ProductProgram {
    /// Returns the binary for a machine. Its sections are the words of the instructions, and the plan: numbers of 4 bytes.
    pub fn to_binary(&self, machine: &NnaMachine) -> Binary {
        let Layout { shape, plan, .. } = self.layout;
        let index = |of: Option<usize>| of.unwrap_or(0);
        let numbers: [usize; NUMBERS] = [
            shape.rows,
            shape.depth,
            shape.columns,
            index(Mapping::ALL.iter().position(|&mapping| mapping == plan.mapping)),
            index(LoopOrder::ALL.iter().position(|&order| order == plan.order)),
            plan.resident,
            plan.padded.into(),
            plan.initial.into(),
            plan.requantize.is_some().into(),
            plan.requantize.unwrap_or(0).cast_unsigned().into(),
        ];
        let plan = numbers.into_iter().flat_map(|number| (number as u32).to_le_bytes()).collect();
        let sections = vec![encode_all(&self.code), plan];
        Binary { machine: NAME.to_owned(), hash: machine.hash(), types: String::new(), sections }
    }

    /// Reads the binary of a program for a machine, which is not trusted; its cycles are not estimated. Other sections may follow those of
    /// the program.
    ///
    /// # Errors
    /// A binary for another machine, a plan that it does not have, or a wrong word.
    pub fn from_binary(binary: &Binary, machine: &NnaMachine) -> Result<ProductProgram, String> {
        if binary.machine != NAME || binary.hash != machine.hash() {
            return Err("a program of another machine".to_owned());
        }
        let [code, plan, ..] = &binary.sections[..] else { return Err("not the sections of a product".to_owned()) };
        let numbers: Vec<u32> = plan.as_chunks::<4>().0.iter().map(|&number| u32::from_le_bytes(number)).collect();
        let wrong = || "not the plan of a product".to_owned();
        let numbers: [u32; NUMBERS] = numbers.try_into().map_err(|_| wrong())?;
        let [rows, depth, columns, mapping, order, resident, padded, initial, requantized, zero] =
            numbers.map(|n| n as usize);
        let zero = u8::try_from(zero).map_err(|_| wrong())?.cast_signed();
        if plan.len() != 4 * NUMBERS || padded.max(initial).max(requantized) > 1 {
            return Err(wrong());
        }
        let plan = ProductPlan {
            order: *LoopOrder::ALL.get(order).ok_or_else(wrong)?,
            resident,
            padded: padded == 1,
            initial: initial == 1,
            requantize: (requantized == 1).then_some(zero),
            ..ProductPlan::new(*Mapping::ALL.get(mapping).ok_or_else(wrong)?, machine)
        };
        let shape = Shape { rows, depth, columns };
        plan.check(shape, machine)?;
        let layout = Layout::new(shape, plan, machine)?;
        Ok(ProductProgram { code: decode_all(code, machine)?, layout, cycles: 0 })
    }
}
