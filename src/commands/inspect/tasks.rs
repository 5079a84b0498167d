//! The task graph of a program, as text or as a picture: tasks, what they read from memory, and the features between them.

use super::choices::lowered_before;
use crate::{Failure, Streams, Tool};
use clap::ArgMatches;
use gradus_ir::svg::{ARROW, document, edge, escape, layered};
use gradus_ir::{Module, Op, OpDecl};
use gradus_networks::layer::ScheduleOp;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The pass that writes steps in order with their places, and the one after it.
const SCHEDULER: &str = "place-buffers";
const NEXT: &str = "convert-layers-to-programs";

/// Maximum number of boxes of a picture.
const MAX_BOXES: usize = 3000;

/// Sizes in pixels: letter, line, distance of boxes.
const LETTER: usize = 7;
const LINE: usize = 16;
const GAP: [usize; 2] = [16, 44];

/// The operand of a task that it writes.
const WRITTEN: &str = "output";

/// Runs the pipeline of the target up to schedules. Returns them as text, or the picture of the first one, and the file to which that goes.
pub(super) fn shown<'a>(
    tool: &Tool,
    matches: &'a ArgMatches,
    streams: &mut Streams<'_>,
) -> Result<(String, &'a str), Failure> {
    let m = lowered_before(tool, matches, ["tasks", SCHEDULER, NEXT], &mut |_| (), streams)?;
    let mut schedules = m.ops_under(m.root()).into_iter().filter(|&op| ScheduleOp::cast(&m, op).is_some()).peekable();
    let Some(&first) = schedules.peek() else {
        return Err(Failure::Input("there is no program with a schedule".into()));
    };
    let Some(path) = matches.get_one::<String>("svg") else {
        return Ok((schedules.map(|op| m.op_text(op, Default::default()) + "\n").collect(), "-"));
    };
    let graph = TaskGraph::of(&m, first);
    match graph.nodes.len() <= MAX_BOXES {
        true => Ok((graph.drawn(&m), path)),
        false => Err(Failure::Input(format!(
            "{} tasks and buffers are too many for a picture of at most {MAX_BOXES}; without --svg they are text",
            graph.nodes.len()
        ))),
    }
}

/// The ops of a schedule, in order, with the edges along which data flow.
struct TaskGraph {
    nodes: Vec<Op>,
    edges: Vec<(usize, usize)>,
}

impl TaskGraph {
    fn of(m: &Module, schedule: Op) -> TaskGraph {
        let block = m.regions(schedule).first().and_then(|&region| m.entry(region));
        let nodes: Vec<Op> = block.into_iter().flat_map(|block| m.block_ops(block)).collect();
        let numbers: BTreeMap<Op, usize> = nodes.iter().enumerate().map(|(i, &op)| (op, i)).collect();
        // The tasks that write and read each buffer.
        let (mut writers, mut readers) = (vec![Vec::new(); nodes.len()], vec![Vec::new(); nodes.len()]);
        for (task, &op) in nodes.iter().enumerate() {
            for (group, info) in m.info(op).map_or(&[][..], |info| info.operands).iter().enumerate() {
                let list = if info.name == WRITTEN { &mut writers } else { &mut readers };
                for buffer in m.operand_group(op, group).iter().filter_map(|&v| m.defining_op(v)) {
                    numbers.get(&buffer).into_iter().for_each(|&buffer| list[buffer].push(task));
                }
            }
        }
        let mut edges = Vec::new();
        for (buffer, (writers, readers)) in writers.iter().zip(&readers).enumerate() {
            if writers.last().is_none_or(|last| readers.iter().all(|reader| reader > last)) {
                edges.extend(writers.iter().map(|&task| (task, buffer)));
                edges.extend(readers.iter().map(|&task| (buffer, task)));
            } else {
                // Tiles of several layers take turns: each reads what was written before.
                let pairs = readers.iter().flat_map(|&reader| writers.iter().map(move |&writer| (writer, reader)));
                edges.extend(pairs.filter(|(writer, reader)| writer < reader));
            }
        }
        TaskGraph { nodes, edges }
    }

    /// The fill of a box: of a task, of a buffer that is read from memory, or of one that tasks write.
    fn fill(&self, m: &Module, node: usize) -> &'static str {
        let is_written = || self.edges.iter().any(|&(from, to)| to == node && from != node);
        match m.num_results(self.nodes[node]) {
            0 => "#f5b06b",
            _ if is_written() => "#f2f2f2",
            _ => "#9cc3ec",
        }
    }

    fn drawn(&self, m: &Module) -> String {
        let labels: Vec<[String; 2]> = self.nodes.iter().map(|&op| label(m, op)).collect();
        let width = |lines: &[String; 2]| lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let lines = |label: &[String; 2]| label.iter().filter(|line| !line.is_empty()).count();
        let size = |label: &[String; 2]| [width(label) * LETTER + LINE, lines(label) * LINE + LINE / 2];
        let boxes: Vec<[usize; 2]> = labels.iter().map(size).collect();
        let (mut below, mut near) = (vec![Vec::new(); boxes.len()], vec![Vec::new(); boxes.len()]);
        for &(from, to) in &self.edges {
            below[from].push(to);
            near[from].push(to);
            near[to].push(from);
        }
        let layout = layered(&boxes, &below, &near, GAP);
        let mut body = format!("<g transform=\"translate({0}, {0})\">\n", GAP[0]);
        for &(from, to) in &self.edges {
            let ([x0, y0], [x1, y1]) = (layout.places[from], layout.places[to]);
            let start = [x0 + boxes[from][0] / 2, y0 + boxes[from][1]];
            body += &edge(start, [x1 + boxes[to][0] / 2, y1], GAP[1] / 2, "gray");
        }
        for (node, (lines, [x, y])) in labels.iter().zip(&layout.places).enumerate() {
            let ([width, height], title) = (boxes[node], escape(&m.op_text(self.nodes[node], Default::default())));
            let fill = self.fill(m, node);
            let _ = writeln!(
                body,
                "<g><title>{title}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\" fill=\"{fill}\" stroke=\"dimgray\"/>"
            );
            for (i, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
                let (x, y) = (x + LINE / 2, y + (i + 1) * LINE);
                let _ = writeln!(body, "<text x=\"{x}\" y=\"{y}\">{}</text>", escape(line));
            }
            body += "</g>\n";
        }
        body += "</g>\n";
        // The last layer has no gap below it.
        document([layout.size[0] + GAP[0], layout.size[1] + 2 * GAP[0] - GAP[1]], ARROW, &body)
    }
}

/// The two lines of a box: the op with its number and name, and the bytes of a buffer or the extent of a task.
fn label(m: &Module, op: Op) -> [String; 2] {
    let text = |name: &str| m.inherent_attr(op, name).and_then(|a| m.ctx.as_str(a)).unwrap_or("");
    let number = ["layer", "feature"].iter().find_map(|name| m.ctx.as_int(m.inherent_attr(op, name)?));
    let name = m.name_text(op).split('.').next_back().unwrap_or("");
    let first = [name.to_owned(), number.map_or(String::new(), |n| n.to_string()), text("name").to_owned()];
    let first: Vec<&str> = first.iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
    let range = |name: &str| {
        let range = m.inherent_attr(op, name).and_then(|a| m.ctx.as_ints(a))?;
        let ends: Vec<String> = range.iter().map(i64::to_string).collect();
        (range.len() == 2).then(|| format!("{name} {}", ends.join(":")))
    };
    let second = match m.results(op).next() {
        Some(buffer) => m.ctx.static_shape(m.value_type(buffer)).map_or(String::new(), |d| format!("{} bytes", d[0])),
        None => ["rows", "kernels"].into_iter().filter_map(range).collect::<Vec<_>>().join(", "),
    };
    [first.join(" "), second]
}
