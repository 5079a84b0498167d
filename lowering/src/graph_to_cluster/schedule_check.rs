//! Whether a network and a machine allow a schedule that is given.

use super::network::{FeatureInfo, Layer, Network, Role, elem_bytes};
use super::region::Region;
use super::schedule::{FeatureInstance, InstanceId, Schedule, Slice, TileTask, constant_places};
use gradus_ir::Refusal;

/// The rules of schedules of a network, task by task.
pub struct ScheduleCheck<'a> {
    net: &'a Network,
    clusters: usize,
    /// The boxes of each instance that are complete, and those of each feature that are in DDR.
    ready: Vec<Vec<Region>>,
    saved: Vec<Vec<Region>>,
}

impl<'a> ScheduleCheck<'a> {
    /// A schedule of a number of instances on a number of clusters, before the first task.
    pub fn new(net: &'a Network, clusters: usize, instances: usize) -> ScheduleCheck<'a> {
        let mut saved = vec![Vec::new(); net.features.len()];
        for (of, info) in saved.iter_mut().zip(&net.features) {
            if matches!(info.role, Role::Operand(_)) {
                of.push(Region::whole(info.extents));
            }
        }
        ScheduleCheck { net, clusters, ready: vec![Vec::new(); instances], saved }
    }

    fn boxes(&self, boxes: &[Region], extents: [u32; 3], name: &'static str) -> Result<(), Refusal> {
        if boxes.len() != self.clusters {
            return Err(Refusal::from("boxes of {} clusters of {}").with([boxes.len(), self.clusters]));
        }
        let outside = boxes.iter().any(|b| !Region::whole(extents).contains(b));
        if outside { Err(Refusal::from(name)) } else { Ok(()) }
    }

    /// Checks the boxes of an instance, and computes its bytes.
    ///
    /// # Errors
    /// The rule that does not hold.
    pub fn instance(&self, instance: &mut FeatureInstance) -> Result<(), Refusal> {
        let info = self.net.features.get(instance.root).filter(|_| self.net.root(instance.root).whole == instance.root);
        let info = info.ok_or("a feature that the network does not have, or that is a part of another one")?;
        self.boxes(&instance.stored, info.extents, "a stored box beyond the feature")?;
        self.boxes(&instance.needs, info.extents, "a needed box beyond the feature")?;
        if instance.stored.iter().zip(&instance.needs).any(|(stored, needed)| !stored.contains(needed)) {
            return Err("a needed box that is not stored".into());
        }
        if instance.steps[0] > instance.steps[1] {
            return Err("a feature that no task uses".into());
        }
        let most = instance.stored.iter().map(Region::len).max().unwrap_or(0) * u64::from(elem_bytes(info.elem));
        instance.bytes = u32::try_from(most).map_err(|_| "a buffer of 2^32 bytes or more")?;
        Ok(())
    }

    /// Checks the channels of constants, and computes their bytes.
    ///
    /// # Errors
    /// The rule that does not hold.
    pub fn slice(&self, slice: &mut Slice) -> Result<(), Refusal> {
        let layer = self.net.layers.get(slice.layer).filter(|layer| layer.has_constants());
        let layer = layer.ok_or("a layer that the network does not have, or that has no constants")?;
        let channels = self.net.features[layer.output].extents[2];
        let mut known = 0_u32;
        for unit in &mut slice.units {
            if unit.channels.end > channels
                || unit.clusters == 0
                || unit.clusters.checked_shr(self.clusters as u32) > Some(0)
            {
                return Err("channels or clusters that there are not".into());
            }
            if known & unit.clusters != 0 {
                return Err("two ranges of channels for one cluster".into());
            }
            known |= unit.clusters;
            unit.bytes = constant_places(layer, unit.channels.len() as u32).1;
        }
        match slice.units.is_empty() || slice.steps[0] > slice.steps[1] {
            true => Err("constants that no task uses".into()),
            false => Ok(()),
        }
    }

    /// Checks the next task.
    ///
    /// # Errors
    /// The rule that does not hold.
    pub fn task(&mut self, schedule: &Schedule, task: &TileTask) -> Result<(), Refusal> {
        let layer = self.net.layers.get(task.layer).ok_or("a layer that the network does not have")?;
        let part = self.net.root(layer.output);
        let output = &schedule.instances[task.output];
        let whole = self.net.features[part.whole].extents;
        self.boxes(&task.boxes, self.net.features[layer.output].extents, "a box beyond the result of the layer")?;
        self.boxes(&task.ready, whole, "a complete box beyond the feature")?;
        self.boxes(&task.saved, whole, "a saved box beyond the feature")?;
        if output.root != part.whole {
            return Err("the buffer of another feature than that of its result".into());
        }
        let reads: Vec<InstanceId> = [task.input].into_iter().chain(task.others.iter().copied()).collect();
        let features: Vec<usize> = layer.reads().collect();
        if reads.len() != features.len() {
            return Err(Refusal::from("{} features, but the layer reads {}").with([reads.len(), features.len()]));
        }
        for c in 0..self.clusters {
            let stores = output.stored[c].contains(&task.boxes[c].in_root(part));
            if !stores || !output.stored[c].contains(&task.ready[c]) || !task.ready[c].contains(&task.saved[c]) {
                return Err(Refusal::from("a box of cluster {} that its memory does not have").with([c]));
            }
            if part.step == 1 && !task.boxes[c].in_root(part).contains(&task.ready[c]) {
                return Err(Refusal::from("a box that is complete, but that cluster {} does not compute").with([c]));
            }
            for ((id, needed), &instance) in self.net.needs(task.layer, &task.boxes[c]).zip(&reads) {
                self.operand((instance, &schedule.instances[instance]), id, needed, c)?;
            }
            self.constants(schedule, task, layer, c)?;
        }
        let boxes = |list: &[Region]| list.iter().copied().filter(|b| !b.is_empty()).collect::<Vec<_>>();
        self.ready[task.output].extend(boxes(&task.ready));
        self.saved[part.whole].extend(boxes(&task.saved));
        Ok(())
    }

    /// Checks that a cluster has the box of a feature that it reads, and that tasks have computed it.
    fn operand(
        &self,
        (number, instance): (InstanceId, &FeatureInstance),
        id: usize,
        needed: Region,
        c: usize,
    ) -> Result<(), Refusal> {
        let part = self.net.root(id);
        let needed = needed.in_root(part);
        if instance.root != part.whole {
            return Err("the buffer of another feature than the layer reads".into());
        }
        let held = &instance.needs[c];
        let missing = (0..3).find(|&i| needed.lo[i] < held.lo[i] || needed.hi[i] > held.hi[i]);
        let known = if instance.is_loaded { &self.saved[part.whole] } else { &self.ready[number] };
        match missing.filter(|_| !held.contains(&needed)) {
            None if !needed.is_within(known) => {
                Err(Refusal::from("cluster {} reads what no task before has computed").with([c]))
            }
            None => Ok(()),
            Some(axis) => {
                let rule = [
                    "cluster {} reads rows {} to {}, which its buffer does not have",
                    "cluster {} reads columns {} to {}, which its buffer does not have",
                    "cluster {} reads channels {} to {}, which its buffer does not have",
                ][axis];
                Err(Refusal::from(rule).with([c, needed.lo[axis] as usize, needed.hi[axis] as usize]))
            }
        }
    }

    fn constants(&self, schedule: &Schedule, task: &TileTask, layer: &Layer, c: usize) -> Result<(), Refusal> {
        let region = &task.boxes[c];
        if region.is_empty() {
            return Ok(());
        }
        let slice = task.slice.map(|slice| &schedule.slices[slice]);
        let fits = match slice.map(|slice| (slice.layer, slice.unit(c))) {
            None => !layer.has_constants(),
            Some((of, unit)) => {
                of == task.layer && unit.is_some_and(|unit| unit.channels == (region.lo[2]..region.hi[2]))
            }
        };
        if fits {
            Ok(())
        } else {
            Err(Refusal::from("channels of cluster {} other than those of its constants").with([c]))
        }
    }

    /// Checks that the results of the program are in DDR as a whole.
    ///
    /// # Errors
    /// The rule that does not hold.
    pub fn results(&self) -> Result<(), Refusal> {
        let is_missing = |(saved, info): (&Vec<Region>, &FeatureInfo)| {
            matches!(info.role, Role::Result(_)) && !Region::whole(info.extents).is_within(saved)
        };
        match self.saved.iter().zip(&self.net.features).any(is_missing) {
            true => Err("the last task, but a part of a result is not in DDR".into()),
            false => Ok(()),
        }
    }
}
