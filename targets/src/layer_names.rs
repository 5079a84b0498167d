//! The names of the layers of programs of machines, from the locations of their instructions.

use gradus_ir::{Module, Op};
use std::ops::Range;

/// Explains the labels of short bars.
pub(crate) const NUMBERS: &str = "a number is that of a layer whose name does not fit; the mouse shows more";

/// The layers whose instructions a program has, in the order of these.
#[derive(Default)]
pub(crate) struct LayerNames {
    names: Vec<String>,
}

impl LayerNames {
    /// The number of the layer of an instruction; `None` if its location is unknown.
    pub(crate) fn layer(&mut self, m: &Module, inst: Op) -> Option<usize> {
        let name = m.loc(inst).label(&m.ctx)?;
        let known = self.names.iter().rposition(|known| *known == name);
        Some(known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        }))
    }

    /// The name of a layer, or an empty text.
    pub(crate) fn name(&self, layer: Option<usize>) -> &str {
        layer.and_then(|layer| self.names.get(layer)).map_or("", String::as_str)
    }

    /// The name of a layer without the end that all names share, such as `_QuantizeLinear`.
    fn label(&self, layer: Option<usize>) -> String {
        let name = self.name(layer);
        let shared = self.names.iter().fold(name, |shared, other| {
            let starts = shared.char_indices().map(|(i, _)| &shared[i..]);
            starts.into_iter().find(|end| other.ends_with(end)).unwrap_or("")
        });
        match shared.find(['_', '/', '.']) {
            Some(at) if shared.len() < name.len() => name[..name.len() - shared.len() + at].to_owned(),
            _ => name.to_owned(),
        }
    }

    /// The number of a layer, from 1, as text; else an empty text.
    pub(crate) fn number(layer: Option<usize>) -> String {
        layer.map_or(String::new(), |layer| (layer + 1).to_string())
    }

    /// The tensor that a transfer moves. `ddr`: its bytes in DDR, and whether they are written.
    pub(crate) fn tensor(
        &self,
        layer: Option<usize>,
        ddr: Option<(Range<u64>, bool)>,
        [operands, results]: [&[Range<u64>]; 2],
        constants: u64,
    ) -> NamedTensor {
        let name = self.name(layer);
        let label = self.label(layer);
        let Some((bytes, is_written)) = ddr else { return NamedTensor { name: name.to_owned(), label } };
        let within =
            |ranges: &[Range<u64>]| ranges.iter().position(|of| of.start <= bytes.start && bytes.end <= of.end);
        let kind = match (within(operands), within(results)) {
            (Some(operand), _) if !is_written => return NamedTensor::of(&format!("operand {operand}")),
            (_, Some(result)) if is_written => return NamedTensor::of(&format!("result {result}")),
            _ if bytes.end <= constants => "weights",
            _ if is_written => "feature",
            _ => "input",
        };
        match name {
            "" => NamedTensor::of(kind),
            name => NamedTensor { name: format!("{kind} of {name}"), label },
        }
    }
}

/// The name of a tensor, and its label where a colour says the rest.
pub(crate) struct NamedTensor {
    pub(crate) name: String,
    pub(crate) label: String,
}

impl NamedTensor {
    fn of(name: &str) -> NamedTensor {
        NamedTensor { name: name.to_owned(), label: name.to_owned() }
    }
}
