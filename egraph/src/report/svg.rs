//! The e-graph as a picture: classes as boxes of nodes in layers, operands below users.

use super::dot::{caption, title};
use super::{ClassReport, Report, terms::label};
use gradus_ir::svg::{document, escape};
use std::fmt::Write as _;

/// Maximum number of classes.
pub const MAX_CLASSES: usize = 400;

/// Sizes in pixels: letter, line, distance of boxes.
const LETTER: usize = 7;
const LINE: usize = 16;
const GAP: [usize; 2] = [24, 56];

/// Arrow heads.
const ARROW: &str = "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" \
     orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"gray\"/></marker></defs>\n";

/// Number of sweeps that reduce edge crossings.
const SWEEPS: usize = 6;

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
    layer: usize,
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
            Placed { lines, layer: 0, x: 0, y: 0, width, height }
        };
        let placed = report.classes.iter().map(box_of).collect();
        let mut picture = Picture { report, placed, width: 0, height: 0 };
        picture.choose_layers();
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

    /// Places each class above the operands of its chosen node; chosen nodes are acyclic, so this terminates.
    fn choose_layers(&mut self) {
        for _ in 0..self.placed.len() {
            let mut changed = false;
            for class in 0..self.placed.len() {
                let below = self.below(class, true).into_iter().map(|at| self.placed[at].layer + 1).max();
                changed |= below.is_some_and(|layer| layer > self.placed[class].layer);
                self.placed[class].layer = self.placed[class].layer.max(below.unwrap_or(0));
            }
            if !changed {
                break;
            }
        }
    }

    /// Returns the classes of each layer, bottom to top, ordered to reduce crossings.
    fn layers(&self) -> Vec<Vec<usize>> {
        let top = self.placed.iter().map(|placed| placed.layer).max().map_or(0, |top| top + 1);
        let mut layers = vec![Vec::new(); top];
        let mut position = vec![0usize; self.placed.len()];
        for (class, placed) in self.placed.iter().enumerate() {
            position[class] = layers[placed.layer].len();
            layers[placed.layer].push(class);
        }
        let mut near: Vec<Vec<usize>> = vec![Vec::new(); self.placed.len()];
        for class in 0..self.placed.len() {
            for at in self.below(class, false) {
                near[class].push(at);
                near[at].push(class);
            }
        }
        for _ in 0..SWEEPS {
            for layer in &mut layers {
                let middle = |class: &usize| {
                    let sum: usize = near[*class].iter().map(|&at| 1000 * position[at]).sum();
                    sum.checked_div(near[*class].len()).unwrap_or(1000 * position[*class])
                };
                layer.sort_by_key(|class| (middle(class), *class));
                layer.iter().enumerate().for_each(|(i, &class)| position[class] = i);
            }
        }
        layers
    }

    fn place(&mut self) {
        let layers = self.layers();
        let widths: Vec<usize> =
            layers.iter().map(|layer| layer.iter().map(|&class| self.placed[class].width + GAP[0]).sum()).collect();
        self.width = widths.iter().copied().max().unwrap_or(0);
        // Roots are at the top.
        let mut y = 0;
        for (layer, width) in layers.iter().zip(&widths).rev() {
            let mut x = (self.width - width) / 2;
            for &class in layer {
                (self.placed[class].x, self.placed[class].y) = (x, y);
                x += self.placed[class].width + GAP[0];
            }
            y += layer.iter().map(|&class| self.placed[class].height).max().unwrap_or(0) + GAP[1];
        }
        self.height = y;
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
                let [x, y] = [to.x + to.width / 2, to.y];
                let _ = writeln!(
                    out,
                    "<path d=\"M{},{} C{},{} {x},{} {x},{y}\" fill=\"none\" stroke=\"{stroke}\" marker-end=\"url(#arrow)\"/>",
                    from[0],
                    from[1],
                    from[0],
                    from[1] + GAP[1] / 2,
                    y.saturating_sub(GAP[1] / 2),
                );
            }
        }
    }
}
