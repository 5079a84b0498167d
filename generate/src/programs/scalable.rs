//! Scalable vectors: reshaped, permuted, broadcast and divided, with masks whose bounds are multiples of `vscale`.

use super::writer::ProgramWriter;
use gradus_ir::random::Random;

/// The extent of a dimension, times `vscale` if it is scalable.
type Dim = (u64, bool);

/// A vector in scope, with its type.
#[derive(Clone)]
struct ScalableVector {
    value: u32,
    dims: Vec<Dim>,
    element: &'static str,
}

/// Maximum number of dimensions.
const MAX_DIMS: usize = 4;

/// Draws a function that transforms a few vectors, and returns elements of the last of them.
pub(super) fn draw(random: &mut Random) -> String {
    let mut w = ProgramWriter::new(random);
    let dims = shape(&mut w);
    let first = type_of(&dims, "i32");
    w.function("func.func @made0", &["i32", "i32", "index", "i1", &first], &["i32", "i32", "i1"]);
    let mut vectors = vec![ScalableVector { value: w.known(&first)[0], dims, element: "i32" }];
    let scale = w.op("index", "vector.vscale");
    for _ in 0..4 + w.random.below(8) {
        let back = w.random.below(3).min(w.random.below(3)) as usize;
        let vector = vectors[vectors.len().saturating_sub(1 + back)].clone();
        let made = step(&mut w, &vector, &vectors, scale);
        vectors.push(made);
    }
    for vector in vectors.iter().rev().take(3) {
        let (list, ty) = (position(&mut w, &vector.dims), type_of(&vector.dims, vector.element));
        w.op(vector.element, &format!("vector.extract %v{}[{list}] : {} from {ty}", vector.value, vector.element));
    }
    let [number, other, flag] = ["i32", "i32", "i1"].map(|ty| w.pick(ty));
    w.line(&format!("return %v{number}, %v{other}, %v{flag} : i32, i32, i1\n}}"));
    w.text
}

/// Draws the dimensions of a vector, one or two of them scalable.
fn shape(w: &mut ProgramWriter<'_>) -> Vec<Dim> {
    let mut dims: Vec<Dim> = (0..1 + w.random.below(3)).map(|_| (w.random.pick(&[1, 1, 2, 4]), false)).collect();
    for _ in 0..2 {
        let at = w.random.below(dims.len() as u64) as usize;
        dims[at].1 = true;
    }
    dims
}

fn type_of(dims: &[Dim], element: &str) -> String {
    let dim = |&(extent, is_scalable): &Dim| if is_scalable { format!("[{extent}]x") } else { format!("{extent}x") };
    format!("vector<{}{element}>", dims.iter().map(dim).collect::<String>())
}

/// Draws a position that every `vscale` has.
fn position(w: &mut ProgramWriter<'_>, dims: &[Dim]) -> String {
    dims.iter().map(|&(extent, _)| w.random.below(extent).to_string()).collect::<Vec<_>>().join(", ")
}

/// Writes an op on a vector.
fn step(w: &mut ProgramWriter<'_>, vector: &ScalableVector, all: &[ScalableVector], scale: u32) -> ScalableVector {
    match w.random.below(12) {
        0..3 => reshaped(w, vector),
        3 => permuted(w, vector),
        4 => broadcast(w, vector),
        5..8 => {
            let dims = if w.random.percent(70) { vector.dims.clone() } else { shape(w) };
            mask(w, dims, scale)
        }
        8 => divided(w, vector),
        9 if vector.dims.len() > 1 => part(w, vector),
        10 => inserted(w, vector),
        _ => combined(w, vector, all),
    }
}

/// Writes an op whose result type is the last of its text.
fn made(w: &mut ProgramWriter<'_>, op: &str, dims: Vec<Dim>, element: &'static str) -> ScalableVector {
    let value = w.name();
    w.line(&format!("%v{value} = {op} {}", type_of(&dims, element)));
    ScalableVector { value, dims, element }
}

/// Adds or drops a dimension of extent 1, or joins a fixed dimension with its neighbour.
fn reshaped(w: &mut ProgramWriter<'_>, vector: &ScalableVector) -> ScalableVector {
    let mut dims = vector.dims.clone();
    let at = w.random.below(dims.len() as u64) as usize;
    let one = dims.iter().rposition(|&dim| dim == (1, false));
    match (w.random.below(4), one) {
        (0 | 1, Some(one)) if dims.len() > 1 => drop(dims.remove(one)),
        (2, _) if at > 0 && !(dims[at - 1].1 && dims[at].1) => {
            let (extent, is_scalable) = dims.remove(at);
            dims[at - 1] = (dims[at - 1].0 * extent, dims[at - 1].1 || is_scalable);
        }
        _ if dims.len() < MAX_DIMS => {
            let at = if w.random.percent(50) { dims.len() } else { at };
            dims.insert(at, (1, false));
        }
        _ => {}
    }
    let ty = type_of(&vector.dims, vector.element);
    made(w, &format!("vector.shape_cast %v{} : {ty} to", vector.value), dims, vector.element)
}

fn permuted(w: &mut ProgramWriter<'_>, vector: &ScalableVector) -> ScalableVector {
    let mut order: Vec<usize> = (0..vector.dims.len()).collect();
    let (a, b) = (w.random.below(order.len() as u64) as usize, w.random.below(order.len() as u64) as usize);
    order.swap(a, b);
    let dims = order.iter().map(|&i| vector.dims[i]).collect();
    let ty = type_of(&vector.dims, vector.element);
    made(w, &format!("vector.transpose %v{}, {order:?} : {ty} to", vector.value), dims, vector.element)
}

/// Repeats an element, or the vector along a new dimension.
fn broadcast(w: &mut ProgramWriter<'_>, vector: &ScalableVector) -> ScalableVector {
    let (element, mut dims) = (vector.element, vector.dims.clone());
    if w.random.percent(50) || dims.len() == MAX_DIMS {
        let scalar = w.pick(element);
        return made(w, &format!("vector.broadcast %v{scalar} : {element} to"), dims, element);
    }
    dims.insert(0, (1 + w.random.below(2), false));
    let ty = type_of(&vector.dims, element);
    made(w, &format!("vector.broadcast %v{} : {ty} to", vector.value), dims, element)
}

/// Creates a mask of a box, whose bounds are numbers (none or all of a scalable dimension) or values.
fn mask(w: &mut ProgramWriter<'_>, dims: Vec<Dim>, scale: u32) -> ScalableVector {
    if w.random.percent(40) {
        let is_empty = w.random.percent(20);
        let bound = |w: &mut ProgramWriter<'_>, &(extent, is_scalable): &Dim| match is_empty {
            true => 0,
            false if is_scalable => extent,
            false => 1 + w.random.below(extent),
        };
        let bounds: Vec<u64> = dims.iter().map(|dim| bound(w, dim)).collect();
        return made(w, &format!("vector.constant_mask {bounds:?} :"), dims, "i1");
    }
    let bounds: Vec<String> = dims.iter().map(|&dim| format!("%v{}", bound(w, dim, scale))).collect();
    made(w, &format!("vector.create_mask {} :", bounds.join(", ")), dims, "i1")
}

/// Draws the bound of a mask in a dimension: its end often, or beside that.
fn bound(w: &mut ProgramWriter<'_>, (extent, is_scalable): Dim, scale: u32) -> u32 {
    let number = match w.random.below(5) {
        0 => return w.pick("index"),
        1 => w.random.below(extent + 1),
        _ => extent,
    };
    let number = w.index(number as i64);
    let is_multiple = if is_scalable { w.random.percent(75) } else { w.random.percent(10) };
    if is_multiple { w.op("index", &format!("arith.muli %v{number}, %v{scale} : index")) } else { number }
}

/// Extracts the vector at a position in the first dimensions.
fn part(w: &mut ProgramWriter<'_>, vector: &ScalableVector) -> ScalableVector {
    let dims = 1 + w.random.below(vector.dims.len() as u64 - 1) as usize;
    let (at, ty) = (position(w, &vector.dims[..dims]), type_of(&vector.dims, vector.element));
    let (of, value) = (type_of(&vector.dims[dims..], vector.element), w.name());
    w.line(&format!("%v{value} = vector.extract %v{}[{at}] : {of} from {ty}", vector.value));
    ScalableVector { value, dims: vector.dims[dims..].to_vec(), ..*vector }
}

/// Inserts an element, or a part of the vector in another place.
fn inserted(w: &mut ProgramWriter<'_>, vector: &ScalableVector) -> ScalableVector {
    let rank = vector.dims.len();
    let (value, dims, of) = if rank == 1 || w.random.percent(30) {
        (w.pick(vector.element), rank, vector.element.to_owned())
    } else {
        let part = part(w, vector);
        (part.value, rank - part.dims.len(), type_of(&part.dims, part.element))
    };
    let at = position(w, &vector.dims[..dims]);
    let op = format!("vector.insert %v{value}, %v{} [{at}] : {of} into", vector.value);
    made(w, &op, vector.dims.clone(), vector.element)
}

/// Extracts and inserts a part of a vector of one scalable dimension, scalable or not; makes such a vector of others.
fn divided(w: &mut ProgramWriter<'_>, vector: &ScalableVector) -> ScalableVector {
    let [(extent, true)] = vector.dims[..] else { return reshaped(w, vector) };
    let len = if extent > 1 { extent / 2 } else { 1 };
    let (element, ty) = (vector.element, type_of(&vector.dims, vector.element));
    let [from, to] = [0, 1].map(|_| w.random.below(extent / len) * len);
    let dims = vec![(len, w.random.percent(50))];
    let part = type_of(&dims, element);
    let half = w.op(&part, &format!("vector.scalable.extract %v{}[{from}] : {part} from {ty}", vector.value));
    if w.random.percent(40) {
        return ScalableVector { value: half, dims, element };
    }
    let op = format!("vector.scalable.insert %v{half}, %v{}[{to}] : {part} into", vector.value);
    made(w, &op, vector.dims.clone(), element)
}

/// Combines two vectors of the same type, or selects from them by a mask.
fn combined(w: &mut ProgramWriter<'_>, vector: &ScalableVector, all: &[ScalableVector]) -> ScalableVector {
    let [masks, others] = ["i1", "i32"].map(|element| {
        let is_alike = |other: &&ScalableVector| other.element == element && other.dims == vector.dims;
        all.iter().filter(is_alike).collect::<Vec<_>>()
    });
    let ty = type_of(&vector.dims, "i32");
    if others.is_empty() {
        let number = w.random.below(5);
        return made(w, &format!("arith.constant dense<{number}> :"), vector.dims.clone(), "i32");
    }
    let [a, b] = [0, 1].map(|_| w.random.pick(&others).value);
    if masks.is_empty() {
        return made(w, &format!("arith.addi %v{a}, %v{b} :"), vector.dims.clone(), "i32");
    }
    let mask = w.random.pick(&masks).value;
    let of = type_of(&vector.dims, "i1");
    let value = w.op(&ty, &format!("arith.select %v{mask}, %v{a}, %v{b} : {of}, {ty}"));
    ScalableVector { value, dims: vector.dims.clone(), element: "i32" }
}
