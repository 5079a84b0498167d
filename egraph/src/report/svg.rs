//! The e-graph as a picture: classes as boxes of nodes in layers, operands below users.

use super::dot::{caption, title};
use super::{ClassReport, Report, terms::label};
use gradus_ir::svg::{ARROW, document, edge, escape, layered};
use std::fmt::Write as _;

/// Maximum number of classes.
pub const MAX_CLASSES: usize = 400;

/// Sizes in pixels: letter, line, distance of boxes.
const LETTER: usize = 7;
const LINE: usize = 16;
const GAP: [usize; 2] = [24, 56];

/// Draws all classes of several functions, one function below the other. The error states why there is no picture.
pub fn svg(reports: &[Report]) -> Result<String, String> {
    let classes: usize = reports.iter().map(|report| report.classes.len()).sum();
    if classes > MAX_CLASSES {
        let advice = "choose a file that ends in .dot, or reduce the program";
        return Err(format!("{classes} classes are too many for a picture of at most {MAX_CLASSES}; {advice}"));
    }
    let (mut body, mut size) = (String::new(), [0, GAP[0]]);
    for report in reports {
        let picture = Picture::new(report);
        let title = title(report);
        let _ =
            writeln!(body, "<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>", GAP[0], size[1], escape(&title));
        let _ = writeln!(body, "<g transform=\"translate({}, {})\">", GAP[0], size[1] + LINE);
        picture.draw(&mut body);
        body.push_str("</g>\n");
        size = [size[0].max(picture.width).max(title.len() * LETTER), size[1] + picture.height + 3 * LINE];
    }
    let [width, height] = [size[0] + 2 * GAP[0], size[1]];
    Ok(document([width, height], ARROW, &body))
}

/// A class with its position.
struct Placed {
    lines: Vec<String>,
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

struct Picture<'r> {
    report: &'r Report,
    placed: Vec<Placed>,
    width: usize,
    height: usize,
}

impl<'r> Picture<'r> {
    fn new(report: &'r Report) -> Picture<'r> {
        let box_of = |class: &ClassReport| {
            let mut lines = vec![caption(class)];
            lines.extend(class.nodes.iter().map(|(node, _)| label(report, *node)));
            let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0) * LETTER + LINE;
            let height = lines.len() * LINE + LINE / 2;
            Placed { lines, x: 0, y: 0, width, height }
        };
        let placed = report.classes.iter().map(box_of).collect();
        let mut picture = Picture { report, placed, width: 0, height: 0 };
        picture.place();
        picture
    }

    fn place_of(&self, class: u32) -> Option<usize> {
        self.report.classes.binary_search_by_key(&class, |class| class.id).ok()
    }

    /// Returns the operand classes of a class's chosen node, or of all of its nodes.
    fn below(&self, class: usize, chosen: bool) -> Vec<usize> {
        let own = &self.report.classes[class];
        let wanted = |place: usize| !chosen || own.chosen == Some(place);
        let nodes = own.nodes.iter().enumerate().filter(|(place, _)| wanted(*place));
        nodes.flat_map(|(_, (_, operands))| operands).filter_map(|&operand| self.place_of(operand)).collect()
    }

    /// Places each class above the operands of its chosen node; chosen nodes are acyclic.
    fn place(&mut self) {
        let classes = 0..self.placed.len();
        let below: Vec<Vec<usize>> = classes.clone().map(|class| self.below(class, true)).collect();
        let mut near: Vec<Vec<usize>> = vec![Vec::new(); self.placed.len()];
        for class in classes {
            for at in self.below(class, false) {
                near[class].push(at);
                near[at].push(class);
            }
        }
        let boxes: Vec<[usize; 2]> = self.placed.iter().map(|placed| [placed.width, placed.height]).collect();
        let layout = layered(&boxes, &below, &near, GAP);
        for (placed, [x, y]) in self.placed.iter_mut().zip(layout.places) {
            (placed.x, placed.y) = (x, y);
        }
        [self.width, self.height] = layout.size;
    }

    fn draw(&self, out: &mut String) {
        // Chosen edges are drawn on top.
        for chosen in [false, true] {
            let classes = self.report.classes.iter().zip(&self.placed);
            classes.for_each(|(class, placed)| self.lines_from(class, placed, chosen, out));
        }
        for (class, placed) in self.report.classes.iter().zip(&self.placed) {
            let (x, y, width, height) = (placed.x, placed.y, placed.width, placed.height);
            let stroke = match (class.is_root, class.is_needed) {
                (true, _) => "black\" stroke-width=\"2",
                (_, true) => "black",
                _ => "silver",
            };
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\" fill=\"whitesmoke\" stroke=\"{stroke}\"/>"
            );
            for (i, line) in placed.lines.iter().enumerate() {
                let (top, chosen) = (y + i * LINE + LINE / 4, i > 0 && class.is_needed && class.chosen == Some(i - 1));
                if chosen {
                    let _ = writeln!(
                        out,
                        "<rect x=\"{}\" y=\"{top}\" width=\"{}\" height=\"{LINE}\" fill=\"palegreen\"/>",
                        x + 2,
                        width - 4
                    );
                }
                let fill = if i == 0 { "gray" } else { "black" };
                let (x, y, line) = (x + LINE / 2, top + LINE - 4, escape(line));
                let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" fill=\"{fill}\">{line}</text>");
            }
        }
    }

    /// Draws the edges from the nodes of a class.
    fn lines_from(&self, class: &ClassReport, placed: &Placed, chosen: bool, out: &mut String) {
        let wanted = |i: usize| (class.is_needed && class.chosen == Some(i)) == chosen;
        for (_, (_, operands)) in class.nodes.iter().enumerate().filter(|(i, _)| wanted(*i)) {
            let stroke = if chosen { "green" } else { "silver" };
            for (k, at) in operands.iter().enumerate().filter_map(|(k, &operand)| Some((k, self.place_of(operand)?))) {
                let to = &self.placed[at];
                let from = [placed.x + placed.width * (k + 1) / (operands.len() + 1), placed.y + placed.height];
                out.push_str(&edge(from, [to.x + to.width / 2, to.y], GAP[1] / 2, stroke));
            }
        }
    }
}
