//! Element accesses: the semantics of scalar loads and stores.

use crate::affine::AffineMap;
use crate::values::datum::Datum;
use crate::values::memory::Memory;
use crate::values::trap::Trap;
use smallvec::SmallVec;

/// The element access of an op. The first operand of a store is the value; the memref and the index operands follow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ElementAccess {
    /// Whether the access is a store.
    pub writes: bool,
    /// The map from operands to indices; `None` if the operands are the indices.
    pub map: Option<AffineMap>,
}

impl ElementAccess {
    /// Loads the element. Poison indices are undefined behavior.
    pub fn load<'d>(
        &self,
        from: &Datum,
        at: impl Iterator<Item = &'d Datum>,
        memory: &mut Memory,
    ) -> Result<Datum, Trap> {
        memory.load(from.memref()?, &self.indices(at)?)
    }

    /// Stores the element. Poison indices are undefined behavior.
    pub fn store<'d>(
        &self,
        value: Datum,
        to: &Datum,
        at: impl Iterator<Item = &'d Datum>,
        memory: &mut Memory,
    ) -> Result<(), Trap> {
        memory.store(value, to.memref()?, &self.indices(at)?)
    }

    fn indices<'d>(&self, operands: impl Iterator<Item = &'d Datum>) -> Result<SmallVec<[i64; 4]>, Trap> {
        // A plain loop: collecting an iterator of results takes as long as the access itself.
        let mut known: SmallVec<[i64; 4]> = SmallVec::new();
        for datum in operands {
            known.push(match datum {
                Datum::Int(index) => *index,
                Datum::Poison => return Err(Trap::Ub("memory is accessed with poison for an index".into())),
                other => other.int()?,
            });
        }
        let Some(map) = &self.map else { return Ok(known) };
        if known.len() != map.num_inputs() {
            return Err(Trap::unsupported("a map that does not fit its operands"));
        }
        let (dims, symbols) = known.split_at(map.num_dims as usize);
        let mut indices = SmallVec::new();
        for expr in &map.results {
            let overflows = || Trap::Ub("an affine expression overflows or divides by a number below one".into());
            indices.push(expr.eval(dims, symbols).map_err(|_| overflows())?);
        }
        Ok(indices)
    }
}
