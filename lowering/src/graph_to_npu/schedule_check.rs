//! Whether a network, its choices and a machine allow steps that are given.
//!
//! Given steps of a layer are its tiles in any order; layers that take turns may do so in any way in which the second one reads tiles that
//! are complete. Slots, places and loads are free, as long as buffers that are live at once share no bytes.

use super::cascade::layers_in_turn;
use super::network::{FeatureId, Network, Weights, tile_of};
use super::residency::Residency;
use super::schedule_ops::{BufferEntry, Entry, ScheduleOps, StepEntry};
use super::shape::{ALIGNMENT, LayerShape, Rows};
use super::steps::{Held, Key, SramRegion, StepBuilder, Steps, Stream, Tile, TileStep};
use gradus_ir::{Op, Refusal};
use gradus_simulators::npu::NpuMachine;
use std::ops::Range;

/// The most slots in which nothing is computed before a step.
const MAX_IDLE: usize = 64;

impl ScheduleOps {
    /// Returns the steps for a network on a machine, with places if all buffers have some.
    ///
    /// # Errors
    /// An op that the network, its choices or the machine do not allow, and the rule.
    pub fn steps(&self, net: &Network, residency: &Residency, machine: &NpuMachine) -> Result<Steps, (Op, Refusal)> {
        let mut check = ScheduleCheck::new(net, residency, machine, &self.buffers);
        for entry in &self.entries {
            match entry {
                Entry::Buffer(index) => check.buffer(*index).map_err(|why| (self.buffers[*index].op, why))?,
                Entry::Step(step) => check.step(step).map_err(|why| (step.op, why))?,
            }
        }
        check.finish(self.is_placed())
    }
}

/// The rules of steps, one by one.
pub struct ScheduleCheck<'a> {
    net: &'a Network,
    residency: &'a Residency,
    machine: &'a NpuMachine,
    builder: StepBuilder<'a>,
    buffers: &'a [BufferEntry],
    /// The turns of each layer, and the tiles that no step has computed yet.
    turns: Vec<Vec<(Rows, Vec<Tile>)>>,
    tiles: Vec<Vec<Tile>>,
    /// The layer that writes each buffer, and the tiles of its steps so far.
    written: Vec<(usize, Vec<Tile>)>,
}

impl<'a> ScheduleCheck<'a> {
    /// The rules of steps on some buffers, before the first step.
    pub fn new(
        net: &'a Network,
        residency: &'a Residency,
        machine: &'a NpuMachine,
        buffers: &'a [BufferEntry],
    ) -> ScheduleCheck<'a> {
        let builder = StepBuilder::new(net, residency, machine);
        let turns: Vec<_> = (0..net.layers.len()).map(|index| builder.turns(index)).collect();
        let tiles = turns.iter().map(|turns| turns.iter().flat_map(|turn| turn.1.iter().copied()).collect()).collect();
        let written = vec![(0, Vec::new()); buffers.len()];
        ScheduleCheck { net, residency, machine, builder, buffers, turns, tiles, written }
    }

    /// Returns the steps, whose buffers have places or not.
    ///
    /// # Errors
    /// An op, and the rule that does not hold.
    pub fn finish(self, is_placed: bool) -> Result<Steps, (Op, Refusal)> {
        let left = self.tiles.iter().position(|tiles| !tiles.is_empty());
        if let (Some(layer), Some(last)) = (left, self.buffers.last()) {
            let rule = "the last buffer, but steps compute a part of the result of layer {} only";
            return Err((last.op, Refusal::from(rule).with([layer])));
        }
        if is_placed {
            self.places()?;
        }
        Ok(self.builder.finish())
    }

    /// Appends the stream of a buffer, whose number is that of the buffer.
    ///
    /// # Errors
    /// The rule that does not hold.
    pub fn buffer(&mut self, index: usize) -> Result<(), Refusal> {
        let buffer = &self.buffers[index];
        let stream = match &buffer.holds {
            Held::Constants { layer, kernels } => {
                let slices = self.builder.slices.get(*layer).ok_or("a layer that the network does not have")?;
                let slice = slices.iter().position(|s| s.kernel == kernels.start && s.kernels == kernels.len());
                let slice = slice.ok_or("kernels other than those of a tile of the layer")?;
                self.builder.constant(*layer, slice)
            }
            &Held::Tile(key) => self.tile(key, buffer.access)?,
        };
        let stream = &mut self.builder.out.streams[stream];
        if let Some(at) = buffer.at {
            stream.place = at;
            stream.issues.clone_from(&buffer.slots);
            if stream.parts().len() != buffer.slots.len() {
                let rule = "{} slots for a load of {} parts";
                return Err(Refusal::from(rule).with([buffer.slots.len(), stream.parts().len()]));
            }
            if buffer.slots.first().is_some_and(|&slot| slot < stream.ready) {
                let rule = "a load in slot {}, before slot {}, from which on its rows are in DDR";
                return Err(Refusal::from(rule).with([buffer.slots[0], stream.ready]));
            }
        }
        Ok(())
    }

    /// Appends the stream of a tile.
    fn tile(&mut self, key: Key, access: [bool; 2]) -> Result<usize, Refusal> {
        let (id, (row, rows), (channel, channels)) = key;
        let info = self.net.features.get(id).ok_or("a feature that the network does not have")?;
        if row + rows > info.height || channel + channels > info.channels.next_multiple_of(info.block()) {
            return Err("a tile beyond its feature".into());
        }
        let is_whole_blocks = channel.is_multiple_of(info.block());
        match access {
            _ if self.builder.is_resident(id) => Err("a tile of a feature that is in SRAM as a whole".into()),
            _ if !is_whole_blocks => Err("a tile whose first channel is within a block".into()),
            [true, true] => Err("a tile that is both loaded and stored".into()),
            [false, false] => {
                let is_passed = |index: usize| self.residency.cascaded[index] && self.net.layers[index].output == id;
                let whole = (channel, channels) == (0, info.channels);
                if !whole || !(0..self.net.layers.len()).any(is_passed) {
                    return Err(
                        "a tile without load and store of a feature that no layer passes to the next one".into()
                    );
                }
                let bytes = tile_of(info, rows, channels).sram_bytes();
                Ok(self.builder.out.stream(Stream::of(bytes, Held::Tile(key))))
            }
            [is_loaded, _] => {
                if self.builder.out.ddr[self.net.root(id)].is_none() {
                    return Err("a tile of a feature without memory in DDR".into());
                }
                Ok(self.builder.tile(key, !is_loaded))
            }
        }
    }

    /// Appends a step.
    ///
    /// # Errors
    /// The rule that does not hold.
    pub fn step(&mut self, step: &StepEntry) -> Result<(), Refusal> {
        let index = step.layer;
        let layer = self.net.layers.get(index).ok_or("a layer that the network does not have")?;
        let tile = self.take_tile(step)?;
        let shape = LayerShape::new(self.net, layer, self.machine);
        let (first, count, _) = shape.input_rows(step.rows.start, step.rows.len());
        let request = self.builder.request(index, tile, (first, count));
        let mut parts = [SramRegion::Whole; 4];
        for (which, request) in request.into_iter().enumerate() {
            parts[which] = self.part(index, which, request, step.parts[which])?;
        }
        let Held::Constants { layer: of, kernels: constants } = &self.buffers[step.constants].holds else {
            return Err("constants that are a tile".into());
        };
        let slice = &self.builder.slices[index][tile.1];
        if *of != index || constants.start != slice.kernel {
            return Err("constants of other kernels".into());
        }
        let ready = parts.iter().map(|&part| self.builder.out.ready(part)).max().unwrap_or(0);
        let next = self.builder.out.steps.last().map_or(1, |step| step.slot + 1);
        let earliest = next.max(ready);
        if step.slot < earliest {
            let rule = "slot {}, before slot {}, which is the earliest one";
            return Err(Refusal::from(rule).with([step.slot, earliest]));
        }
        if step.slot - earliest > MAX_IDLE {
            let rule = "slot {}, more than {} slots after the earliest one, {}";
            return Err(Refusal::from(rule).with([step.slot, MAX_IDLE, earliest]));
        }
        if let SramRegion::Tile { stream, .. } = parts[3] {
            let (layer, tiles) = &mut self.written[stream];
            *layer = index;
            if tiles.contains(&tile) {
                return Err(Refusal::of_attr("output", "a tile of which these rows and kernels are written already"));
            }
            tiles.push(tile);
        }
        let [input, weights, sum, output] = parts;
        self.builder.push(TileStep {
            layer: index,
            slot: step.slot,
            row: step.rows.start,
            rows: step.rows.len(),
            kernel: step.kernels.start,
            kernels: step.kernels.len(),
            constants: step.constants,
            constants_kernel: constants.start,
            constants_kernels: constants.len(),
            input,
            weights,
            sum,
            output,
        });
        Ok(())
    }

    /// Takes the tile of a step from those that its layer has, in the order of layers.
    fn take_tile(&mut self, step: &StepEntry) -> Result<Tile, Refusal> {
        let counted = |range: &Range<usize>| (range.start, range.len());
        let (rows, kernels) = (counted(&step.rows), counted(&step.kernels));
        let first = self.tiles.iter().position(|tiles| !tiles.is_empty()).unwrap_or(0);
        if step.layer > *layers_in_turn(&self.residency.cascaded, first).end() {
            return Err(Refusal::from("a step before all tiles of layer {} are computed").with([first]));
        }
        let tiles = &mut self.tiles[step.layer];
        let at = tiles.iter().position(|tile| tile.0 == rows && tile.2 == kernels);
        Ok(tiles.remove(at.ok_or("rows and kernels of no tile of its layer, or of one that is computed already")?))
    }

    /// The place of an operand or result of a step: the tile that is given has what the step needs.
    fn part(
        &self,
        index: usize,
        which: usize,
        request: Option<Key>,
        given: Option<usize>,
    ) -> Result<SramRegion, Refusal> {
        let name = ["input", "weights", "sum", "output"][which];
        let wanted = request.filter(|key| !self.builder.is_resident(key.0));
        let (key, buffer) = match (wanted, given) {
            (None, None) => return Ok(SramRegion::Whole),
            (Some(key), Some(buffer)) => (key, buffer),
            (None, Some(_)) => return Err(Refusal::of_attr(name, "a tile of a feature that is in SRAM as a whole")),
            (Some(_), None) => {
                return Err(Refusal::of_attr(name, "no tile, but the feature is not in SRAM as a whole"));
            }
        };
        let Held::Tile((id, rows, channels)) = self.buffers[buffer].holds else {
            return Err(Refusal::of_attr(name, "constants instead of a tile"));
        };
        if id != key.0 {
            return Err(Refusal::of_attr(name, "a tile of another feature"));
        }
        // The last block of channels is whole in SRAM.
        let blocks = |(first, count): (usize, usize)| (first, count.next_multiple_of(self.net.features[id].block()));
        if !holds(rows, key.1) || !holds(blocks(channels), blocks(key.2)) {
            let rule = "a tile without rows {} to {}, or their channels";
            return Err(Refusal::of_attr(name, rule).with([key.1.0, key.1.0 + key.1.1]));
        }
        if (which == 3) == self.buffers[buffer].access[0] {
            let is_passed = which == 0 && index > 0 && self.residency.cascaded[index - 1];
            if which == 3 || !is_passed {
                return Err(Refusal::of_attr(name, "a tile that is loaded instead of written, or the reverse"));
            }
        }
        if which == 0 && !self.buffers[buffer].access[0] && !self.is_complete(buffer) {
            return Err(Refusal::of_attr(name, "a tile that is not complete"));
        }
        Ok(SramRegion::Tile { stream: buffer, row: rows.0, channel: channels.0, channels: channels.1 })
    }

    /// Whether steps have written all of a tile.
    fn is_complete(&self, buffer: usize) -> bool {
        let (Held::Tile((_, rows, channels)), (index, written)) = (&self.buffers[buffer].holds, &self.written[buffer])
        else {
            return false;
        };
        let layer = &self.net.layers[*index];
        let is_elements = matches!(layer.weights, Weights::Elements(_));
        let is_part = |(of, _, (kernel, kernels)): &&Tile| {
            let end = (kernel + kernels).min(layer.kernels);
            holds(*rows, *of) && (is_elements || holds(*channels, (*kernel, end - kernel)))
        };
        // Rows of tiles that are passed on may be computed for several turns.
        let is_turn = |(of, _): &&(Rows, Vec<Tile>)| !self.residency.cascaded[*index] || of == rows;
        let tiles = self.turns[*index].iter().filter(is_turn).flat_map(|(_, tiles)| tiles);
        let mut parts = tiles.filter(is_part).peekable();
        parts.peek().is_some() && parts.all(|part| written.contains(part))
    }

    /// Checks that streams and features that are live at once do not share bytes, and that loads end before the first use.
    fn places(&self) -> Result<(), (Op, Refusal)> {
        let steps = &self.builder.out;
        let mut live: Vec<(Range<usize>, Range<usize>, Option<Op>)> = self.resident();
        for (i, (stream, buffer)) in steps.streams.iter().zip(self.buffers).enumerate() {
            let refuse = |rule: Refusal| Err((buffer.op, rule));
            let (first, last) = stream.uses;
            if first > last {
                return refuse("a buffer that no step uses".into());
            }
            if buffer.access[1] && !self.is_complete(i) {
                return refuse("a tile that is stored before all of it is written".into());
            }
            if stream.issues.iter().any(|&slot| slot > first) || !stream.issues.is_sorted() {
                return refuse(
                    Refusal::from("a load that is not issued by slot {}, in which it is used").with([first]),
                );
            }
            let begin = stream.issues.first().copied().unwrap_or(first);
            let end = stream.place + stream.bytes.next_multiple_of(ALIGNMENT);
            if !stream.place.is_multiple_of(ALIGNMENT) || end > self.machine.sram_bytes as usize {
                return refuse(
                    Refusal::from("bytes from {} on, which is no multiple of {}, or up to {}, beyond SRAM").with([
                        stream.place,
                        ALIGNMENT,
                        end,
                    ]),
                );
            }
            live.push((begin..last + 2, stream.place..end, Some(buffer.op)));
        }
        disjoint(live)
    }

    /// The features in SRAM: slots and bytes.
    fn resident(&self) -> Vec<(Range<usize>, Range<usize>, Option<Op>)> {
        let slots = self.builder.out.slots_of_layers(self.net.layers.len());
        let of_feature = |(id, place): (FeatureId, &Option<usize>)| {
            let (first, last) = self.residency.lifetimes[id];
            let bytes = self.net.features[id].sram_bytes().next_multiple_of(ALIGNMENT);
            let at = (*place).filter(|_| first <= last)?;
            Some((slots[first].0..slots[last].1 + 2, at..at + bytes, None))
        };
        self.residency.places.iter().enumerate().filter_map(of_feature).collect()
    }
}

/// Whether a range, of a first number and a count, has all of another one.
fn holds((first, count): (usize, usize), (from, number): (usize, usize)) -> bool {
    first <= from && from + number <= first + count
}

/// Checks that no two ranges of bytes overlap while both are live, those of features in SRAM aside, which are checked with the choices.
fn disjoint(mut live: Vec<(Range<usize>, Range<usize>, Option<Op>)>) -> Result<(), (Op, Refusal)> {
    live.sort_by_key(|(slots, ..)| slots.start);
    let mut open: Vec<(Range<usize>, Range<usize>, Option<Op>)> = Vec::new();
    for (slots, bytes, op) in live {
        open.retain(|(others, ..)| others.end > slots.start);
        let shared = open.iter().find(|(_, others, _)| others.start < bytes.end && bytes.start < others.end);
        if let Some((_, others, other)) = shared
            && let Some(op) = op.or(*other)
        {
            let rule = "the bytes from {} on, which hold something else at the same time";
            return Err((op, Refusal::from(rule).with([others.start])));
        }
        open.push((slots, bytes, op));
    }
    Ok(())
}
