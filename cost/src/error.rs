//! The errors of cost models and machines.

use std::fmt;

/// The reason why a program cannot be priced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CostError {
    /// No cost model has the name.
    UnknownModel {
        /// The name.
        name: String,
        /// A suggestion, `; did you mean 'x'?`, or empty.
        hint: String,
        /// The models, each with its description.
        known: Vec<String>,
    },
    /// The machine has no such number.
    UnknownNumber {
        /// The name of the machine.
        machine: String,
        /// The key.
        key: String,
    },
    /// The embedded machine description is malformed; its diagnostics, rendered.
    Malformed(String),
    /// The model of this name prices ops, not descriptors.
    NotOfMachine(&'static str),
    /// The value of an option `floats`, neither exact nor approx.
    Floats(String),
}

impl fmt::Display for CostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CostError::UnknownModel { name, hint, known } => {
                write!(f, "there is no target '{name}'{hint}; there are {}", known.join(", "))
            }
            CostError::UnknownNumber { machine, key } => write!(f, "the machine '{machine}' has no number '{key}'"),
            CostError::Malformed(rendered) => f.write_str(rendered),
            CostError::NotOfMachine(model) => write!(f, "the costs of '{model}' are not those of a machine"),
            CostError::Floats(found) => write!(f, "'floats' is exact or approx, not '{found}'"),
        }
    }
}

gradus_ir::declared_error!(CostError);
