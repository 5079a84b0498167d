//! SVG documents, for the reports of several crates.

/// Returns a picture of a size in pixels, with a white background also on dark pages. `defs` holds the definitions that
/// `body` refers to.
pub fn document([width, height]: [usize; 2], defs: &str, body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"monospace\" font-size=\"11\">\n{defs}<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

/// Escapes text for element contents and attribute values.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Number of sweeps that reduce edge crossings.
const SWEEPS: usize = 6;

/// The positions of boxes, and the size of all, in pixels.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// Left and top of each box.
    pub places: Vec<[usize; 2]>,
    /// Width and height.
    pub size: [usize; 2],
}

/// Places boxes of given widths and heights in layers: each above those in its list of `below`, which must be acyclic. Neighbours in `near`, all
/// that edges join, come close to each other along their layers.
pub fn layered(boxes: &[[usize; 2]], below: &[Vec<usize>], near: &[Vec<usize>], gap: [usize; 2]) -> Layout {
    let layers = in_layers(below, near);
    let width = |layer: &Vec<usize>| layer.iter().map(|&i| boxes[i][0] + gap[0]).sum::<usize>();
    let widest = layers.iter().map(width).max().unwrap_or(0);
    let mut layout = Layout { places: vec![[0; 2]; boxes.len()], size: [widest, 0] };
    for layer in layers.iter().rev() {
        let mut x = (widest - width(layer)) / 2;
        for &i in layer {
            layout.places[i] = [x, layout.size[1]];
            x += boxes[i][0] + gap[0];
        }
        layout.size[1] += layer.iter().map(|&i| boxes[i][1]).max().unwrap_or(0) + gap[1];
    }
    layout
}

/// Returns the boxes of each layer, bottom to top, ordered to reduce crossings.
fn in_layers(below: &[Vec<usize>], near: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut heights = vec![0; below.len()];
    for _ in 0..below.len() {
        let mut changed = false;
        for (i, below) in below.iter().enumerate() {
            let least = below.iter().map(|&at| heights[at] + 1).max().unwrap_or(0);
            changed |= least > heights[i];
            heights[i] = heights[i].max(least);
        }
        if !changed {
            break;
        }
    }
    let mut layers = vec![Vec::new(); heights.iter().max().map_or(0, |top| top + 1)];
    let mut position = vec![0_usize; below.len()];
    for (i, &height) in heights.iter().enumerate() {
        position[i] = layers[height].len();
        layers[height].push(i);
    }
    for _ in 0..SWEEPS {
        for layer in &mut layers {
            let middle = |i: &usize| {
                let sum: usize = near[*i].iter().map(|&at| 1000 * position[at]).sum();
                sum.checked_div(near[*i].len()).unwrap_or(1000 * position[*i])
            };
            layer.sort_by_key(|i| (middle(i), *i));
            layer.iter().enumerate().for_each(|(at, &i)| position[i] = at);
        }
    }
    layers
}

/// Definition of the arrow heads of [`edge`].
pub const ARROW: &str = "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" \
     orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"gray\"/></marker></defs>\n";

/// Returns an edge that leaves a box downwards, and ends at the top of another one. `bend` is the vertical distance in which it turns.
pub fn edge([x0, y0]: [usize; 2], [x1, y1]: [usize; 2], bend: usize, stroke: &str) -> String {
    let (down, up) = (y0 + bend, y1.saturating_sub(bend));
    format!(
        "<path d=\"M{x0},{y0} C{x0},{down} {x1},{up} {x1},{y1}\" fill=\"none\" stroke=\"{stroke}\" marker-end=\"url(#arrow)\"/>\n"
    )
}
