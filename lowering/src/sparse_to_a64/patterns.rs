//! Pattern dispatch: one function per pattern of nonzeros in a chunk of columns.

use super::generate::{Base, ELEMENT, VALUE, access, class};
use gradus_ir::DType;
use gradus_machines::a64::{INPUT, Inst, OUTPUT, POOL, RegisterClass, assemble, ops};

/// The register of the sum.
const SUM: u8 = 3;

/// Generates the functions of all patterns of `bits` columns. Returns their bytes and the start of each, with the end; `None` if rows of
/// `pitch` bytes are out of reach.
pub(super) fn functions(dtype: DType, bits: usize, panel: usize, pitch: usize) -> Option<(Vec<u8>, Vec<i64>)> {
    let (mut code, mut starts) = (Vec::new(), vec![0]);
    for pattern in 0..1u32 << bits {
        code.extend(assemble(&function(dtype, pattern, panel, pitch)?)?);
        starts.push(code.len() as i64);
    }
    Some((code, starts))
}

/// The function of a pattern, which adds the products of its weights and rows of B to a panel of a row of C.
fn function(dtype: DType, pattern: u32, panel: usize, pitch: usize) -> Option<Vec<Inst>> {
    let (class, is_float) = (class(dtype, panel), dtype != DType::I32);
    let inst = |what, d| Inst::new(what, class, d);
    let mut code = vec![inst(&ops::LDR, SUM).at(OUTPUT, 0)];
    let mut input = Base::of(INPUT, 6);
    for (j, i) in (0..8usize).filter(|i| pattern >> i & 1 == 1).enumerate() {
        let load = access(&mut code, &mut input, inst(&ops::LDR, ELEMENT), i * pitch)?;
        code.push(load);
        let scalar = match (is_float, class.lane_bytes()) {
            (false, _) => RegisterClass::W,
            (true, 8) => RegisterClass::D,
            (true, _) => RegisterClass::S,
        };
        code.push(Inst::new(&ops::LDR, scalar, VALUE).at(POOL, j * class.lane_bytes()));
        let product = match (is_float, class) {
            (true, _) => inst(&ops::FMLA, SUM),
            (false, RegisterClass::W) => Inst { a: SUM, ..inst(&ops::MADD, SUM) },
            (false, _) => {
                code.push(inst(&ops::DUP, VALUE).of(VALUE, 0));
                inst(&ops::MLA, SUM)
            }
        };
        code.push(product.of(ELEMENT, VALUE));
    }
    code.extend([inst(&ops::STR, SUM).at(OUTPUT, 0), Inst::new(&ops::RET, RegisterClass::X, 0)]);
    Some(code)
}
