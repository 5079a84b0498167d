//! What a function is called with: values, and memory for its memrefs.

use gradus_ir::DType;
use gradus_ir::eval::{Datum, floats_to_tensor};

/// The arguments of a call.
#[derive(Clone, Debug)]
pub struct Input {
    /// The contents of the memory that memrefs are given: buffer number `i` of the program's memory is number `i` here.
    pub buffers: Vec<Vec<Datum>>,
    /// The arguments.
    pub args: Vec<Datum>,
    /// What those outside have written to globals before, by name. Others hold what the program says.
    pub globals: Vec<(String, Vec<Datum>)>,
    /// What decides what functions outside the program return and write.
    pub outside: u64,
}

impl Input {
    /// The input with each float replaced.
    pub(crate) fn map_floats(&self, f: &mut dyn FnMut(f64) -> f64, dtype: impl Fn(DType) -> DType) -> Input {
        let mut map = |datum: &Datum| match datum {
            Datum::Float(value) => Datum::Float(f(*value)),
            Datum::Tensor(tensor) if tensor.dtype().is_float() => {
                let values = tensor.to_f64().into_iter().map(&mut *f).collect();
                Datum::Tensor(floats_to_tensor(dtype(tensor.dtype()), tensor.shape(), values))
            }
            other => other.clone(),
        };
        let args = self.args.iter().map(&mut map).collect();
        let buffers = self.buffers.iter().map(|held| held.iter().map(&mut map).collect()).collect();
        let global = |(name, held): &(String, Vec<Datum>)| (name.clone(), held.iter().map(&mut map).collect());
        let globals = self.globals.iter().map(global).collect();
        Input { args, buffers, globals, outside: self.outside }
    }

    pub(crate) fn new(outside: u64) -> Input {
        Input { buffers: Vec::new(), args: Vec::new(), globals: Vec::new(), outside }
    }
}
