//! A picture of a run of clusters: the use of each cluster, of its port and of DDR over time, and the contents of a memory.

use crate::TargetError;
use crate::chart::{Bar, Chart, Lane, MemoryAccess, MemoryMap, TimeAxis, colours, grouped};
use crate::layer_names::{LayerNames, NUMBERS, NamedTensor};
use gradus_ir::{Module, Op, OpDecl};
use gradus_machines::cluster::{Program, ProgramOp};
use gradus_simulators::cluster::{
    self, FUNCTIONS, MemoryId, Record, RecordAccess, Simulator, Span, Statistics, Use, accesses,
};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Uses with their colours and meanings.
const USES: [(Use, &str, &str); 6] = [
    (Use::Compute, colours::COMPUTE, "computes"),
    (Use::Wait, colours::WAIT, "waits for an event"),
    (Use::Issue, colours::CONTROL, "issues a transfer"),
    (Use::Read, colours::READ, "reads from DDR"),
    (Use::Write, colours::WRITE, "writes to DDR"),
    (Use::Exchange, colours::COPY, "receives from another cluster"),
];

fn colour(usage: Use) -> &'static str {
    USES.iter().find(|entry| entry.0 == usage).map_or(colours::WAIT, |entry| entry.1)
}

/// Draws a run of a program, without data.
///
/// # Errors
/// The program is rejected.
pub(crate) fn draw(m: &Module, op: Op, name: &str, program: &Program) -> Result<String, TargetError> {
    let mut simulator = Simulator::new(program.machine.clone());
    simulator.trace = true;
    let counts = simulator.time(&program.code).map_err(|fault| fault.to_string())?;
    let facts = format!(
        "bound {} cycles; {} bytes read from DDR, {} written, {} sent between clusters",
        grouped(counts.bound()),
        grouped(counts.ddr_bytes_read),
        grouped(counts.ddr_bytes_written),
        grouped(counts.exchange_bytes)
    );
    let mut chart = Chart::new(&format!("{name} on clusters: {} cycles", grouped(counts.cycles)), &facts);
    chart.legend(&USES.map(|(_, colour, meaning)| (meaning, colour)));
    let axis = TimeAxis { cycles: [0, counts.cycles] };
    let run = PicturedRun::new(m, op, program, &counts);
    let lane = |(label, of): (String, cluster::Lane)| {
        let spans = counts.trace.iter().filter(|span| span.lane == of);
        Lane { label, bars: spans.map(|span| run.bar(span)).collect() }
    };
    let cores = (0..program.code.records.len()).map(|i| (format!("cluster {i}"), cluster::Lane::Cluster(i)));
    let ports = (0..program.code.records.len()).map(|i| (format!("port into {i}"), cluster::Lane::Input(i)));
    chart.section(&format!("Clusters: layers over time ({NUMBERS})"));
    chart.lanes(axis, &cores.map(lane).collect::<Vec<_>>());
    chart.section("Transfers: DDR, and the ports into the memories of clusters");
    let ddr = [("DDR".to_owned(), cluster::Lane::Ddr)];
    chart.lanes(axis, &ddr.into_iter().chain(ports).map(lane).collect::<Vec<_>>());
    chart.section("Memory of cluster 0: address over time; each buffer from its write to its last read");
    chart.memory(axis, &run.memory(&counts));
    Ok(chart.finish())
}

/// When records were executed.
struct RecordTimes {
    /// The compute records of each cluster, with their first cycles, in order.
    computes: Vec<Vec<(u64, usize)>>,
    /// The cycle at which the copy of a record, by cluster and index, has arrived in the first of its clusters.
    arrivals: FxHashMap<[usize; 2], u64>,
}

impl RecordTimes {
    fn of(counts: &Statistics, clusters: usize) -> RecordTimes {
        let mut times = RecordTimes { computes: vec![Vec::new(); clusters], arrivals: FxHashMap::default() };
        for span in &counts.trace {
            let (cluster, index) = (span.record.cluster as usize, span.record.index as usize);
            match span.lane {
                cluster::Lane::Cluster(of) if span.usage == Use::Compute => {
                    times.computes[of].push((span.begin, index));
                }
                cluster::Lane::Input(_) => drop(times.arrivals.entry([cluster, index]).or_insert(span.end)),
                _ => {}
            }
        }
        times.computes.iter_mut().for_each(|of| of.sort_unstable());
        times
    }
}

/// A program whose run is drawn.
struct PicturedRun<'a> {
    program: &'a Program,
    names: LayerNames,
    /// The layer of each record, by cluster.
    layers: Vec<Vec<Option<usize>>>,
}

impl PicturedRun<'_> {
    fn new<'a>(m: &Module, op: Op, program: &'a Program, counts: &Statistics) -> PicturedRun<'a> {
        let records = &program.code.records;
        let mut names = LayerNames::default();
        let mut layers: Vec<Vec<Option<usize>>> = records.iter().map(|all| vec![None; all.len()]).collect();
        let regions = ProgramOp::cast(m, op).map_or_else(Vec::new, |op| op.clusters(m).to_vec());
        for ((region, layers), records) in regions.into_iter().zip(&mut layers).zip(records) {
            let ops: Vec<Op> = m.entry(region).into_iter().flat_map(|block| m.block_ops(block)).collect();
            if ops.len() == records.len() {
                let computes = records.iter().zip(ops).enumerate().filter(|(_, (record, _))| record.task().is_some());
                computes.for_each(|(i, (_, op))| layers[i] = names.layer(m, op));
            }
        }
        let mut run = PicturedRun { program, names, layers };
        let times = RecordTimes::of(counts, records.len());
        for (cluster, records) in records.iter().enumerate() {
            for (index, _) in records.iter().enumerate().filter(|(_, record)| record.task().is_none()) {
                run.layers[cluster][index] = run.layer_of_transfer(cluster, index, &times);
            }
        }
        run
    }

    /// The layer of a record that does not compute: the next one that reads in a cluster what is copied there, the last one that wrote what
    /// is sent or stored, or the next one of a wait.
    fn layer_of_transfer(&self, cluster: usize, index: usize, times: &RecordTimes) -> Option<usize> {
        let of = |cluster: usize, index: usize| self.layers[cluster][index];
        let computes = |cluster: usize, index: &usize| self.program.code.records[cluster][*index].task().is_some();
        let all = &self.program.code.records;
        let touches = |(cluster, index): (usize, usize), writes: bool, bytes: &Range<u64>| {
            let mut found = false;
            accesses(&all[cluster][index], cluster, &mut |access: RecordAccess| {
                found |= access.writes == writes && hull(&access).start < bytes.end && bytes.start < hull(&access).end;
            });
            found
        };
        match &all[cluster][index] {
            Record::Fetch { .. } => {
                let (to, bytes) = self.destinations(cluster, index).next()?;
                let end = *times.arrivals.get(&[cluster, index])?;
                let first = times.computes[to].partition_point(|&(begin, _)| begin < end);
                let mut later = times.computes[to][first..].iter().map(|&(_, i)| i);
                later.find(|&i| touches((to, i), false, &bytes)).and_then(|i| of(to, i))
            }
            Record::Send { .. } | Record::Store { .. } => {
                let bytes = self.source(cluster, index)?;
                let mut earlier = (0..index).rev().filter(|i| computes(cluster, i));
                earlier.find(|&i| touches((cluster, i), true, &bytes)).and_then(|i| of(cluster, i))
            }
            _ => (index..all[cluster].len()).find(|i| computes(cluster, i)).and_then(|i| of(cluster, i)),
        }
    }

    /// The clusters into which a record copies, with the bytes there.
    fn destinations(&self, cluster: usize, index: usize) -> impl Iterator<Item = (usize, Range<u64>)> {
        let mut found = Vec::new();
        accesses(&self.program.code.records[cluster][index], cluster, &mut |access| {
            if let (MemoryId::Cluster(to), true) = (access.memory, access.writes) {
                found.push((to, hull(&access)));
            }
        });
        found.into_iter()
    }

    /// The bytes that a record reads in the memory of its cluster.
    fn source(&self, cluster: usize, index: usize) -> Option<Range<u64>> {
        let mut found = None;
        accesses(&self.program.code.records[cluster][index], cluster, &mut |access| {
            if !access.writes && access.memory == MemoryId::Cluster(cluster) {
                found = Some(hull(&access));
            }
        });
        found
    }

    /// The tensor that a transfer moves, or that of the layer of another record.
    fn subject(&self, cluster: usize, index: usize) -> NamedTensor {
        let code = &self.program.code;
        let mut ddr = None;
        accesses(&code.records[cluster][index], cluster, &mut |access| {
            if access.memory == MemoryId::Ddr {
                ddr = Some((hull(&access), access.writes));
            }
        });
        let ranges = |all: &[cluster::Extent]| {
            all.iter().map(|e| e.offset.into()..u64::from(e.offset) + u64::from(e.bytes)).collect::<Vec<_>>()
        };
        let (operands, results) = (ranges(&code.operands), ranges(&code.results));
        self.names.tensor(self.layers[cluster][index], ddr, [&operands, &results], code.constants.len() as u64)
    }

    fn bar(&self, span: &Span) -> Bar {
        let (cluster, index) = (span.record.cluster as usize, span.record.index as usize);
        let record = &self.program.code.records[cluster][index];
        let (layer, subject) = (self.layers[cluster][index], self.subject(cluster, index));
        let function = FUNCTIONS.get(record.function()).copied().unwrap_or_default();
        let is_copy = matches!(span.usage, Use::Read | Use::Write | Use::Exchange);
        let (mut bytes, mut place) = (0, Vec::new());
        accesses(record, cluster, &mut |access| {
            bytes = if is_copy { access.runs.total() } else { 0 };
            place.push(access_text(&access));
        });
        let control =
            |label: &str| (self.of_control(record, function, layer), String::new(), label.to_owned(), String::new());
        let (what, name, label, short) = match span.usage {
            Use::Wait => control("wait"),
            Use::Issue => control(function),
            _ => (function.to_owned(), subject.name, subject.label, LayerNames::number(layer)),
        };
        let what = if span.usage == Use::Exchange { format!("{what} by cluster {cluster}") } else { what };
        Bar {
            cycles: [span.begin, span.end],
            colour: colour(span.usage),
            what,
            name,
            label,
            short,
            bytes,
            place: place.join("\n"),
        }
    }

    /// Describes a wait or an issue.
    fn of_control(&self, record: &Record, function: &str, layer: Option<usize>) -> String {
        let name = self.names.name(layer);
        match record {
            Record::Wait { event, .. } if name.is_empty() => format!("wait for event {event}"),
            Record::Wait { event, .. } => format!("wait for event {event}, before {name}"),
            _ if name.is_empty() => format!("issue {function}"),
            _ => format!("issue {function}, for {name}"),
        }
    }

    /// The contents of the memory of the first cluster.
    fn memory(&self, counts: &Statistics) -> MemoryMap {
        let size = self.program.machine.buffer_bytes().into();
        let mut map = MemoryMap { size, buffers: Vec::new(), accesses: Vec::new() };
        let is_access = |span: &&Span| match span.lane {
            cluster::Lane::Cluster(i) => i == 0 && span.usage == Use::Compute,
            cluster::Lane::Input(i) | cluster::Lane::Output(i) => i == 0,
            cluster::Lane::Ddr => false,
        };
        let mut spans: Vec<&Span> = counts.trace.iter().filter(is_access).collect();
        spans.sort_by_key(|span| span.begin);
        for span in spans {
            let (cluster, index) = (span.record.cluster as usize, span.record.index as usize);
            let is_input = matches!(span.lane, cluster::Lane::Input(_));
            accesses(&self.program.code.records[cluster][index], cluster, &mut |access: RecordAccess| {
                if access.memory == MemoryId::Cluster(0) && (!is_input || access.writes) {
                    let written = access.writes.then(|| map.buffer(self.subject(cluster, index), colour(span.usage)));
                    map.accesses.push(MemoryAccess { cycles: [span.begin, span.end], bytes: hull(&access), written });
                }
            });
        }
        map
    }
}

/// The range from the first to the last byte of an access.
fn hull(access: &RecordAccess) -> Range<u64> {
    access.runs.ranges().next().map_or(0, |range| range.start)..access.runs.end()
}

fn access_text(access: &RecordAccess) -> String {
    let does = if access.writes { "writes" } else { "reads" };
    let memory = match access.memory {
        MemoryId::Cluster(i) => format!("memory {i}"),
        MemoryId::Ddr => "DDR".to_owned(),
    };
    let Range { start, end } = hull(access);
    format!("{does} {} bytes of {memory}, within {} to {}", grouped(access.runs.total()), grouped(start), grouped(end))
}
