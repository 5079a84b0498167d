//! Inputs of a function: values, and memory for its memrefs.

use crate::options::Floats;
use gradus_ir::DType;
use gradus_ir::eval::{Datum, PoisonTensor, floats_to_tensor};

/// The arguments of a call.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The contents of the memory behind memrefs: buffer `i` of the program's memory is entry `i` here.
    pub buffers: Vec<Vec<Datum>>,
    /// The arguments.
    pub args: Vec<Datum>,
    /// The initial contents of public globals, by name. Others have the contents declared in the program.
    pub globals: Vec<(String, Vec<Datum>)>,
    /// The seed of the results and writes of external functions.
    pub outside: u64,
    /// The mode in which floats are drawn, also those from outside, and compared.
    pub floats: Floats,
}

impl Input {
    /// Returns the input with each float replaced.
    pub(crate) fn map_floats(&self, f: &mut dyn FnMut(f64) -> f64, dtype: impl Fn(DType) -> DType) -> Input {
        let mut map = |datum: &Datum| match datum {
            Datum::Float(value) => Datum::Float(f(*value)),
            Datum::Tensor(_) | Datum::PoisonTensor(_) => map_elements(datum, f, &dtype),
            other => other.clone(),
        };
        let args = self.args.iter().map(&mut map).collect();
        let buffers = self.buffers.iter().map(|held| held.iter().map(&mut map).collect()).collect();
        let global = |(name, held): &(String, Vec<Datum>)| (name.clone(), held.iter().map(&mut map).collect());
        let globals = self.globals.iter().map(global).collect();
        Input { args, buffers, globals, ..*self }
    }

    /// Returns the number of elements of arguments and memory.
    pub(crate) fn elements(&self) -> u64 {
        let elements = |datum: &Datum| datum.shape().map_or(1, |shape| shape.iter().product());
        let args: usize = self.args.iter().map(elements).sum();
        (args + self.buffers.iter().map(Vec::len).sum::<usize>()) as u64
    }

    pub(crate) fn new(outside: u64, floats: Floats) -> Input {
        Input { outside, floats, ..Input::default() }
    }
}

/// Returns a tensor with each float replaced.
pub(crate) fn map_elements(datum: &Datum, f: &mut dyn FnMut(f64) -> f64, dtype: &dyn Fn(DType) -> DType) -> Datum {
    let Some((tensor, mask)) = datum.masked().filter(|(tensor, _)| tensor.dtype().is_float()) else {
        return datum.clone();
    };
    let values = tensor.to_f64().into_iter().map(f).collect();
    let tensor = floats_to_tensor(dtype(tensor.dtype()), tensor.shape(), values);
    mask.map_or_else(|| Datum::Tensor(tensor.clone()), |mask| PoisonTensor::datum(tensor.clone(), mask.to_vec()))
}
