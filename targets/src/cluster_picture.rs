//! A picture of a run of clusters: what each does over time, and what is live in the memory of the first.

use crate::TargetError;
use crate::timeline::{HEIGHT, LANE, LEFT, MemoryAccess, TOP, Timeline, WIDTH, lane};
use gradus_ir::svg::{document, escape};
use gradus_machines::cluster::Program;
use gradus_simulators::cluster::{Lane, MemoryId, RecordAccess, Simulator, Span, Statistics, Use, accesses};
use std::fmt::Write as _;

/// Uses with their names and colours.
const USES: [(Use, &str, &str); 6] = [
    (Use::Compute, "computes", "#c2571a"),
    (Use::Wait, "waits", "#c9c9c9"),
    (Use::Issue, "issues", "#3c8d40"),
    (Use::Read, "reads from DDR", "#3b6fb6"),
    (Use::Write, "writes to DDR", "#8a4fb0"),
    (Use::Exchange, "receives from clusters", "#b0902c"),
];

fn colour(usage: Use) -> &'static str {
    USES.iter().find(|entry| entry.0 == usage).map_or("#000000", |entry| entry.2)
}

/// Draws a run of a program, without data.
///
/// # Errors
/// The program is rejected.
pub(crate) fn draw(name: &str, program: &Program) -> Result<String, TargetError> {
    let mut simulator = Simulator::new(program.machine.clone());
    simulator.trace = true;
    let counts = simulator.time(&program.code).map_err(|fault| fault.to_string())?;
    let mut body = String::new();
    let title = format!(
        "@{name}: {} cycles, bound {}, {} bytes read from DDR, {} written, {} sent between clusters",
        counts.cycles,
        counts.bound(),
        counts.ddr_bytes_read,
        counts.ddr_bytes_written,
        counts.exchange_bytes
    );
    let _ = writeln!(body, "<text x=\"{LEFT}\" y=\"16\">{}</text>", escape(&title));
    let mut y = legend(&mut body);
    let timeline = Timeline { cycles: counts.cycles };
    let clusters = program.code.records.len();
    let lanes = (0..clusters)
        .flat_map(|i| [(format!("cluster {i}"), Lane::Cluster(i)), (format!("  port {i}"), Lane::Input(i))]);
    for (label, of) in lanes.chain([("DDR".to_owned(), Lane::Ddr)]) {
        for (usage, _, colour) in USES {
            let spans = counts.trace.iter().filter(|span| span.lane == of && span.usage == usage);
            let shares = timeline.shares(spans.map(|span| [span.begin, span.end]));
            if shares.iter().any(|&share| share > 0.0) {
                lane(&mut body, y, "", colour, &shares);
            }
        }
        let _ = writeln!(body, "<text x=\"8\" y=\"{}\">{}</text>", y + 14, escape(label.trim()));
        y += LANE;
    }
    let top = y + 24;
    let size = u64::from(program.machine.buffer_bytes());
    timeline.memory(&mut body, top, "memory 0", size, &memory_accesses(program, &counts));
    Ok(document([LEFT + WIDTH + 16, top + HEIGHT + 24], "", &body))
}

/// Draws the meanings of the colours. Returns the bottom of it.
fn legend(body: &mut String) -> usize {
    for (i, (_, label, colour)) in USES.into_iter().enumerate() {
        let x = LEFT + i * 170;
        let _ = writeln!(body, "<rect x=\"{x}\" y=\"{TOP}\" width=\"12\" height=\"12\" fill=\"{colour}\"/>");
        let _ = writeln!(body, "<text x=\"{}\" y=\"{}\">{label}</text>", x + 16, TOP + 11);
    }
    TOP + LANE
}

/// The accesses to the memory of the first cluster, in the order of time.
fn memory_accesses(program: &Program, counts: &Statistics) -> Vec<MemoryAccess> {
    let mut found = Vec::new();
    let is_access = |span: &&Span| match span.lane {
        Lane::Cluster(i) => i == 0 && span.usage == Use::Compute,
        Lane::Input(i) => i == 0,
        Lane::Output(i) => i == 0,
        Lane::Ddr => false,
    };
    for span in counts.trace.iter().filter(is_access) {
        let record = &program.code.records[span.record.cluster as usize][span.record.index as usize];
        let is_input = matches!(span.lane, Lane::Input(_));
        accesses(record, span.record.cluster as usize, &mut |access: RecordAccess| {
            if access.memory == MemoryId::Cluster(0) && (!is_input || access.writes) {
                let first = access.runs.ranges().next().map_or(0, |range| range.start);
                let bytes = first..access.runs.end();
                let cycles = [span.begin, span.end];
                found.push(MemoryAccess { cycles, colour: colour(span.usage), bytes, is_write: access.writes });
            }
        });
    }
    found
}
