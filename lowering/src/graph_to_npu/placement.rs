//! The bytes of streams in SRAM, and the slots of their loads.
//!
//! A stream takes the first bytes that are free from the slot of its load to that of its last use, and its load has the earliest slot in
//! which there are any: constants and tiles arrive as early as memory allows.

use super::network::Network;
use super::price::Prices;
use super::reservations::{ReservationRequest, Reservations};
use super::residency::Residency;
use super::shape::LayerShape;
use super::slot_times::SlotTimes;
use super::steps::{Held, SramRegion, Steps, TileStep};
use super::timeline;
use gradus_simulators::npu::{NpuInst, NpuMachine, cost};

/// The most slots between a load and its first use.
const LOOK_AHEAD: usize = 256;

/// How streams are placed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placement {
    /// Slots for which bytes are left alone, if there are others; with 0 streams are close to each other.
    pub rest: usize,
    /// Whether constants, of other sizes and lifetimes than tiles, are placed from the last byte of SRAM down.
    pub constants_high: bool,
}

/// A stream that finds no bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoRoom {
    /// The layer.
    pub layer: usize,
    /// Bytes of the stream.
    pub bytes: usize,
}

/// Places the streams of steps. `prices` has the cycles of the tiles of each layer.
///
/// # Errors
/// A stream finds no bytes.
pub fn place(
    net: &Network,
    residency: &Residency,
    machine: &NpuMachine,
    placement: Placement,
    prices: &mut [Prices],
    steps: Steps,
) -> Result<Steps, NoRoom> {
    let mut placer = Placer { net, residency, machine, placement, prices, out: steps };
    placer.place()?;
    Ok(placer.out)
}

struct Placer<'a> {
    net: &'a Network,
    residency: &'a Residency,
    machine: &'a NpuMachine,
    placement: Placement,
    prices: &'a mut [Prices],
    out: Steps,
}

impl Placer<'_> {
    /// Places all streams: the first bytes that are free, from the earliest slot on.
    fn place(&mut self) -> Result<(), NoRoom> {
        let mut reserved = Reservations::default();
        let slots = self.out.slots_of_layers(self.net.layers.len());
        for (id, place) in self.residency.places.iter().enumerate() {
            let Some(place) = place else { continue };
            let (first, last) = self.residency.lifetimes[id];
            reserved.add(*place, self.net.features[id].sram_bytes(), slots[first].0, slots[last].1 + 1);
        }
        let mut order: Vec<usize> = (0..self.out.streams.len()).collect();
        order.sort_by_key(|&i| self.out.streams[i].uses.0);
        let mut times = SlotTimes::new(self.machine, self.out.streams.len());
        let mut streams = order.into_iter().peekable();
        for i in 0..self.out.steps.len() {
            let step = self.out.steps[i];
            while let Some(stream) = streams.next_if(|&s| self.out.streams[s].uses.0 == step.slot) {
                self.place_stream(stream, &mut reserved, &mut times)?;
            }
            self.time_step(&step, &mut times);
        }
        Ok(())
    }

    /// Places a stream in SRAM. Its load is issued in the last slot in which the DMA channel does not become idle, or later, when
    /// bytes are free.
    fn place_stream(&mut self, i: usize, reserved: &mut Reservations, times: &mut SlotTimes<'_>) -> Result<(), NoRoom> {
        let stream = &self.out.streams[i];
        let is_constant = matches!(stream.holds, Held::Constants { .. });
        let (use_slot, end, bytes) = (stream.uses.0, stream.uses.1 + 1, stream.bytes);
        let earliest = times.earliest.max(stream.ready).max(use_slot.saturating_sub(LOOK_AHEAD));
        let from = if stream.load.is_some() { times.slot().max(earliest).min(use_slot) } else { use_slot };
        reserved.forget(times.earliest.saturating_sub(self.placement.rest));
        let size = self.machine.sram_bytes as usize;
        // Bytes that were free for a while: neither their last store nor their last reader is waited for.
        let request =
            ReservationRequest { bytes, from, end, size, is_high: is_constant && self.placement.constants_high };
        let rested = reserved.first(request, from, self.placement.rest);
        let Some((slot, place)) = rested.or_else(|| reserved.first(request, use_slot, 0)) else {
            let step = self.out.steps.iter().find(|s| s.slot == use_slot);
            return Err(NoRoom { layer: step.map_or(0, |s| s.layer), bytes });
        };
        reserved.add(place, bytes, slot, end);
        let stream = &mut self.out.streams[i];
        stream.place = place;
        times.waits(slot, slot > from);
        for part in stream.parts() {
            let slot = times.slot().clamp(slot, use_slot);
            times.load(i, slot, cost(self.machine, &NpuInst::Load(part)).cycles);
            stream.issues.push(slot);
        }
        Ok(())
    }

    /// Adds a step to the timeline.
    fn time_step(&mut self, step: &TileStep, times: &mut SlotTimes<'_>) {
        let shape = LayerShape::new(self.net, &self.net.layers[step.layer], self.machine);
        let (prices, tiling) = (&mut self.prices[step.layer], &self.residency.tilings[step.layer].0);
        let parts = [step.input, step.weights, step.sum, step.output];
        let stores = parts[3].stream().map(|s| &self.out.streams[s]).filter(|s| s.uses.1 == step.slot);
        let store = stores.and_then(|s| s.store).map(|t| (cost(self.machine, &NpuInst::Store(t)).cycles, 0));
        let used = parts.iter().filter_map(SramRegion::stream).chain([step.constants]);
        let timed = timeline::TimedStep {
            ready: used.map(|s| times.ready[s]).max().unwrap_or(0),
            convolution: prices.convolution(&shape, tiling, step.rows, step.kernels),
            requantization: prices.requantization(&shape, tiling, step.rows, step.kernels),
            releases: 0,
            store,
        };
        times.step(step.slot, timed);
    }
}
