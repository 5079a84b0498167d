//! The image of DDR: constants in the order of use, operands, results, and features between groups.

use super::memory::BufferPlacement;
use super::network::{FeatureId, FeatureInfo, Network, Role, elem_bytes};
use super::schedule::{Choices, ConstantUnit, Schedule, constant_lists, constant_places};
use gradus_ir::Refusal;
use gradus_simulators::cluster::{ClusterMachine, Extent};

/// The contents of DDR.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DdrImage {
    /// Bytes of the constants, which begin at byte 0.
    pub constants: u64,
    /// First byte of each unit of each slice.
    pub slices: Vec<Vec<u32>>,
    /// First byte of each feature that is in DDR.
    pub features: Vec<Option<u32>>,
    /// Operands.
    pub operands: Vec<Extent>,
    /// Results.
    pub results: Vec<Extent>,
    /// Bytes of all.
    pub bytes: u32,
}

/// Bytes of a feature.
fn feature_bytes(info: &FeatureInfo) -> u64 {
    info.extents.iter().map(|&n| u64::from(n)).product::<u64>() * u64::from(elem_bytes(info.elem))
}

/// Lays out DDR.
///
/// # Errors
/// It needs more than 2^32 bytes.
pub fn image(
    net: &Network,
    schedule: &Schedule,
    choices: &Choices,
    memory: &BufferPlacement,
    machine: &ClusterMachine,
) -> Result<DdrImage, Refusal> {
    debug_assert_eq!(memory.bufs.len(), schedule.instances.len() + schedule.slices.len());
    let mut image = DdrImage { features: vec![None; net.features.len()], ..DdrImage::default() };
    let alignment = u64::from(machine.alignment);
    let mut order: Vec<usize> = (0..schedule.slices.len()).collect();
    order.sort_by_key(|&slice| schedule.slices[slice].steps[0]);
    image.slices = vec![Vec::new(); order.len()];
    for slice in order {
        let mut place = |unit: &ConstantUnit| {
            let first = image.constants.next_multiple_of(alignment);
            image.constants = first + u64::from(unit.bytes);
            u32::try_from(first).map_err(|_| Refusal::from(TOO_LARGE))
        };
        image.slices[slice] = schedule.slices[slice].units.iter().map(&mut place).collect::<Result<_, _>>()?;
    }
    let mut end = image.constants;
    let mut place = |info: &FeatureInfo| {
        let offset = end.next_multiple_of(alignment);
        end = offset + feature_bytes(info);
        let bytes = u32::try_from(end).map_err(|_| TOO_LARGE)? - offset as u32;
        Ok::<Extent, Refusal>(Extent { offset: offset as u32, bytes })
    };
    let mut roles: Vec<(Role, FeatureId)> = (0..net.features.len()).map(|id| (net.features[id].role, id)).collect();
    roles.sort_by_key(|&(role, id)| match role {
        Role::Operand(i) => (0, i, id),
        Role::Result(i) => (1, i, id),
        Role::Inner => (2, 0, id),
    });
    for (role, id) in roles {
        if role == Role::Inner && (!choices.in_ddr[id] || net.features[id].part_of.is_some()) {
            continue;
        }
        let extent = place(&net.features[id])?;
        image.features[id] = Some(extent.offset);
        match role {
            Role::Operand(_) => image.operands.push(extent),
            Role::Result(_) => image.results.push(extent),
            Role::Inner => {}
        }
    }
    image.bytes = u32::try_from(end).map_err(|_| TOO_LARGE)?;
    Ok(image)
}

/// Returns the constants of an image.
pub fn constants(net: &Network, schedule: &Schedule, image: &DdrImage) -> Vec<u8> {
    let mut bytes = vec![0; image.constants as usize];
    for (slice, places) in schedule.slices.iter().zip(&image.slices) {
        let layer = &net.layers[slice.layer];
        for (unit, &first) in slice.units.iter().zip(places) {
            let (lists, _) = constant_places(layer, unit.channels.len() as u32);
            for ((list, size), place) in constant_lists(layer).zip(lists) {
                let range = unit.channels.start as usize * size..unit.channels.end as usize * size;
                let list = if size == 0 { list } else { &list[range] };
                let at = (first + place) as usize;
                bytes[at..at + list.len()].copy_from_slice(list);
            }
        }
    }
    bytes
}

/// The rule of constants and features without room in DDR.
const TOO_LARGE: &str = "a program with more than 2^32 bytes of constants and features";
