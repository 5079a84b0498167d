//! Programs outside of a context: text, with large constants beside it.

use bytes::Bytes;
use gradus_ir::{
    Attr, AttrData, Context, DType, Diagnostic, Module, Op, ParseOptions, Tensor, Type, parse_module, verify,
};
use gradus_machines::code::pack;
use std::sync::Arc;

/// A program as text, in which `dense_resource<c0>` is a constant whose elements are the first of `constants`, and so on.
#[derive(Clone, Debug)]
pub struct StoredProgram {
    /// The program.
    pub text: String,
    /// The elements of constants of at least 64 bytes, and the instructions of programs.
    pub constants: Vec<Bytes>,
}

/// Minimum size in bytes of constants beside the text; smaller ones are in it.
const MIN_BYTES: usize = 64;

/// Name of the attribute of constants.
const VALUE: &str = "value";

impl StoredProgram {
    /// Stores a program, with instructions of simulated machines as bytes. Elements of constants are shared, not copied.
    pub fn of(mut program: Module) -> StoredProgram {
        pack(&mut program);
        let mut constants = Vec::new();
        for op in program.ops_under(program.root()) {
            let Some((attr, data)) = constant(&program, op).filter(|(_, data)| data.len() >= MIN_BYTES) else {
                continue;
            };
            let Some(ty) = program.ctx.attr_type(attr) else { continue };
            let key = program.ctx.str(&format!("c{}", constants.len()));
            let resource = program.ctx.attr(AttrData::DenseResource { key, ty });
            program.set_attr(op, VALUE, Some(resource));
            constants.push(data);
        }
        StoredProgram { text: program.to_text(Default::default()), constants }
    }

    /// Reads and verifies the program; `name` is that of the text in diagnostics.
    ///
    /// # Errors
    /// Each error with its position.
    pub fn into_module(self, ctx: &Arc<Context>, name: &str) -> Result<Module, Vec<Diagnostic>> {
        let StoredProgram { text, constants } = self;
        let mut m = parse_module(ctx, name, text, ParseOptions::default())?;
        for op in m.ops_under(m.root()) {
            fill_constant(&mut m, op, &constants).map_err(|why| vec![Diagnostic::error(m.loc(op), why)])?;
        }
        verify(&m)?;
        Ok(m)
    }
}

/// Gives a constant its elements.
fn fill_constant(m: &mut Module, op: Op, constants: &[Bytes]) -> Result<(), String> {
    let Some(attr) = m.inherent_attr(op, VALUE) else { return Ok(()) };
    let &AttrData::DenseResource { key, ty } = m.ctx.attr_data(attr) else { return Ok(()) };
    let number = m.ctx.text(key).strip_prefix('c').and_then(|n| n.parse::<usize>().ok());
    let data = number.and_then(|n| constants.get(n));
    let data = data.ok_or_else(|| format!("there are no elements '{}'", m.ctx.text(key)))?;
    let tensor = tensor(&m.ctx, ty, data.clone())?;
    let attr = m.ctx.dense_attr(ty, &tensor);
    m.set_attr(op, VALUE, Some(attr));
    Ok(())
}

/// Returns a constant and its elements, if they are available.
fn constant(m: &Module, op: Op) -> Option<(Attr, Bytes)> {
    let attr = m.inherent_attr(op, VALUE)?;
    match m.ctx.attr_data(attr) {
        AttrData::Dense(dense) if !dense.splat => Some((attr, dense.data())),
        _ => None,
    }
}

/// Returns the elements of a constant.
fn tensor(ctx: &Context, ty: Type, data: Bytes) -> Result<Tensor, String> {
    let shape = ctx.static_shape(ty).ok_or("a constant of unknown extents")?;
    let shape: Vec<usize> =
        shape.iter().map(|&d| usize::try_from(d)).collect::<Result<_, _>>().map_err(|e| e.to_string())?;
    let dtype = ctx.dtype(ctx.element_type(ty)).ok_or("a constant whose element type has no run-time values")?;
    let bits = match dtype {
        DType::Bool => 1,
        _ if dtype.is_narrow() => dtype.bits(),
        _ => 8,
    };
    if bits < 8 && data.iter().any(|&byte| byte >> bits != 0) {
        return Err(format!("a constant whose bytes are not elements of type {dtype}"));
    }
    Ok(Tensor::new(dtype, shape, data)?)
}
