//! Vectors of fixed length: elements inserted and extracted, slices, masks, broadcasts and permutations.

use super::writer::Writer;
use gradus_ir::random::Random;

/// A vector in scope, with the extents of its type.
#[derive(Clone)]
struct Vector {
    value: u32,
    extents: Vec<u64>,
    element: &'static str,
}

/// Draws a function that transforms a few vectors, and returns the last of them.
pub(super) fn draw(random: &mut Random) -> String {
    let mut w = Writer::new(random);
    let extents: Vec<u64> = (0..1 + w.random.below(2)).map(|_| 1 + w.random.below(4)).collect();
    let first = type_of(&extents, "i32");
    w.function("func.func @made0", &["i32", "i32", &first], &["i32", "i1"]);
    let mut vectors = vec![Vector { value: w.known(&first)[0], extents, element: "i32" }];
    for _ in 0..4 + w.random.below(8) {
        let recent = vectors.len() - 1 - w.random.below(vectors.len().min(3) as u64) as usize;
        let vector = vectors[recent].clone();
        let made = step(&mut w, &vector);
        vectors.extend(made);
    }
    for vector in vectors.iter().rev().take(2) {
        scalar(&mut w, vector);
    }
    let [number, flag] = ["i32", "i1"].map(|ty| w.pick(ty));
    w.line(&format!("return %v{number}, %v{flag} : i32, i1\n}}"));
    w.text
}

fn type_of(extents: &[u64], element: &str) -> String {
    let extents: Vec<String> = extents.iter().map(u64::to_string).collect();
    format!("vector<{}x{element}>", extents.join("x"))
}

fn list(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// Draws a position of as many dimensions as there are extents.
fn position(w: &mut Writer<'_>, extents: &[u64]) -> Vec<u64> {
    extents.iter().map(|&extent| w.random.below(extent)).collect()
}

/// Extracts an element.
fn scalar(w: &mut Writer<'_>, vector: &Vector) {
    let (at, ty) = (position(w, &vector.extents), type_of(&vector.extents, vector.element));
    w.op(vector.element, &format!("vector.extract %v{}[{}] : {} from {ty}", vector.value, list(&at), vector.element));
}

/// Writes an op on a vector, or several; the result is a vector.
fn step(w: &mut Writer<'_>, vector: &Vector) -> Option<Vector> {
    let (x, element) = (vector.value, vector.element);
    let ty = type_of(&vector.extents, element);
    let made = |value: u32, extents: Vec<u64>| Some(Vector { value, extents, element });
    match w.random.below(9) {
        0 => {
            scalar(w, vector);
            None
        }
        // Elements in any order, some of them twice.
        1 => {
            let count = vector.extents.iter().product::<u64>() + w.random.below(3);
            let value = (0..count).fold(x, |value, _| {
                let (at, scalar, next) = (position(w, &vector.extents), w.pick(element), w.name());
                w.line(&format!(
                    "%v{next} = vector.insert %v{scalar}, %v{value} [{}] : {element} into {ty}",
                    list(&at)
                ));
                next
            });
            made(value, vector.extents.clone())
        }
        2 => {
            let extents: Vec<u64> = (0..1 + w.random.below(2)).map(|_| 1 + w.random.below(4)).collect();
            let bounds: Vec<u64> = extents.iter().map(|&extent| w.random.below(extent + 1)).collect();
            let bounds = if bounds.contains(&0) { vec![0; bounds.len()] } else { bounds };
            let (value, mask) = (w.name(), type_of(&extents, "i1"));
            w.line(&format!("%v{value} = vector.constant_mask [{}] : {mask}", list(&bounds)));
            Some(Vector { value, extents, element: "i1" })
        }
        3 => {
            let offsets = position(w, &vector.extents);
            let sizes: Vec<u64> =
                vector.extents.iter().zip(&offsets).map(|(&n, &at)| 1 + w.random.below(n - at)).collect();
            let (value, to) = (w.name(), type_of(&sizes, element));
            let ones = list(&vec![1; sizes.len()]);
            let (offsets, lengths) = (list(&offsets), list(&sizes));
            w.line(&format!(
                "%v{value} = vector.extract_strided_slice %v{x} {{offsets = [{offsets}], sizes = [{lengths}], strides = [{ones}]}} : {ty} to {to}"
            ));
            made(value, sizes)
        }
        4 => {
            let (scalar, value) = (w.pick(element), w.name());
            w.line(&format!("%v{value} = vector.broadcast %v{scalar} : {element} to {ty}"));
            made(value, vector.extents.clone())
        }
        5 => {
            let mut extents = vector.extents.clone();
            extents.insert(0, 1 + w.random.below(3));
            let value = w.name();
            w.line(&format!("%v{value} = vector.broadcast %v{x} : {ty} to {}", type_of(&extents, element)));
            (extents.len() < 4).then_some(())?;
            made(value, extents)
        }
        6 => {
            let mut order: Vec<u64> = (0..vector.extents.len() as u64).collect();
            let turn = w.random.below(order.len() as u64) as usize;
            order.rotate_left(turn);
            let extents: Vec<u64> = order.iter().map(|&i| vector.extents[i as usize]).collect();
            let value = w.name();
            w.line(&format!(
                "%v{value} = vector.transpose %v{x}, [{}] : {ty} to {}",
                list(&order),
                type_of(&extents, element)
            ));
            made(value, extents)
        }
        7 => {
            let extents = match vector.extents[..] {
                [n] => vec![1, n],
                _ => vec![vector.extents.iter().product()],
            };
            let value = w.name();
            w.line(&format!("%v{value} = vector.shape_cast %v{x} : {ty} to {}", type_of(&extents, element)));
            made(value, extents)
        }
        _ => {
            let at = w.random.below(vector.extents[0]);
            let rest = vector.extents[1..].to_vec();
            if rest.is_empty() {
                scalar(w, vector);
                return None;
            }
            let (value, to) = (w.name(), type_of(&rest, element));
            w.line(&format!("%v{value} = vector.extract %v{x}[{at}] : {to} from {ty}"));
            made(value, rest)
        }
    }
}
