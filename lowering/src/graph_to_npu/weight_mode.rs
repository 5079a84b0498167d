//! Modes of constant weights: which weights are at one address, and so how much padding a kernel has.

use gradus_simulators::npu::NpuMachine;

/// A block of weights: `columns` of the kernel by `kernels` by `depth` values, the last fastest, such as 8K8D.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WeightMode {
    /// Columns of the kernel.
    pub columns: u16,
    /// Kernels.
    pub kernels: u16,
    /// Depth values.
    pub depth: u16,
}

/// The modes that are candidates besides that of the multipliers: 8K8D, 2K4C, 8W4C, 4W4C, 2W, 4W. Weights have a depth where features
/// have channels, so that 8W4C is 8W4D.
pub const MODES: [WeightMode; 6] = [
    WeightMode { columns: 1, kernels: 8, depth: 8 },
    WeightMode { columns: 1, kernels: 2, depth: 4 },
    WeightMode { columns: 8, kernels: 1, depth: 4 },
    WeightMode { columns: 4, kernels: 1, depth: 4 },
    WeightMode { columns: 2, kernels: 1, depth: 1 },
    WeightMode { columns: 4, kernels: 1, depth: 1 },
];

/// Largest extent of a block.
const MAX_BLOCK: u16 = 64;

impl WeightMode {
    /// The mode of the multipliers, whose block all of them read in a cycle.
    pub fn of_multipliers(machine: &NpuMachine, depthwise: bool) -> WeightMode {
        let depth = if depthwise { 1 } else { machine.depth };
        let [kernels, depth] = [machine.kernels, depth].map(|n| n as u16);
        WeightMode { columns: 1, kernels, depth }
    }

    /// Parses a mode such as `8k8d`, `8w4d` or `2w`.
    pub fn parse(mut text: &str) -> Option<WeightMode> {
        let mut extents = [1; 3];
        for (extent, letter) in extents.iter_mut().zip(['w', 'k', 'd']) {
            let Some((number, rest)) = text.split_once(letter) else { continue };
            *extent = number.parse().ok().filter(|n| (1..=MAX_BLOCK).contains(n))?;
            text = rest;
        }
        let [columns, kernels, depth] = extents;
        let mode = WeightMode { columns, kernels, depth };
        (text.is_empty() && extents != [1; 3]).then_some(mode)
    }

    /// The text of the mode.
    pub fn text(self) -> String {
        let parts = [(self.columns, 'w'), (self.kernels, 'k'), (self.depth, 'd')];
        parts.iter().filter(|(extent, _)| *extent > 1).map(|(extent, letter)| format!("{extent}{letter}")).collect()
    }

    /// Bytes of a block.
    pub fn block(self) -> usize {
        self.extents().iter().product()
    }

    /// Columns, kernels and depth.
    pub fn extents(self) -> [usize; 3] {
        [self.columns, self.kernels, self.depth].map(usize::from)
    }

    /// Whether blocks of kernels of the array are whole blocks of the mode.
    pub fn fits(self, machine: &NpuMachine) -> bool {
        machine.kernels.is_multiple_of(self.kernels.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read() {
        for mode in MODES {
            assert_eq!(WeightMode::parse(&mode.text()), Some(mode));
        }
        assert!(
            ["", "8", "8c", "d", "0k", "8d8k", "8k8d8", "99w"].iter().all(|text| WeightMode::parse(text).is_none())
        );
    }
}
