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
    match w.random.below(9) {
        0 => return Some(inserted(w, vector)),
        1 => {
            let extents: Vec<u64> = (0..1 + w.random.below(2)).map(|_| 1 + w.random.below(4)).collect();
            return Some(mask(w, extents));
        }
        2 => return Some(slice(w, vector)),
        3 if vector.element == "i32" && vector.extents.len() == 1 => return Some(sum(w, vector)),
        _ => {}
    }
    let (x, element, ty) = (vector.value, vector.element, type_of(&vector.extents, vector.element));
    let mut extents = vector.extents.clone();
    let op = match w.random.below(5) {
        0 => {
            let scalar = w.pick(element);
            format!("vector.broadcast %v{scalar} : {element} to {ty}")
        }
        1 if extents.len() < 3 => {
            extents.insert(0, 1 + w.random.below(3));
            format!("vector.broadcast %v{x} : {ty} to {}", type_of(&extents, element))
        }
        2 => {
            let mut order: Vec<u64> = (0..extents.len() as u64).collect();
            let turn = w.random.below(order.len() as u64) as usize;
            order.rotate_left(turn);
            extents = order.iter().map(|&i| vector.extents[i as usize]).collect();
            format!("vector.transpose %v{x}, [{}] : {ty} to {}", list(&order), type_of(&extents, element))
        }
        3 => {
            extents = if let [n] = extents[..] { vec![1, n] } else { vec![extents.iter().product()] };
            format!("vector.shape_cast %v{x} : {ty} to {}", type_of(&extents, element))
        }
        _ if extents.len() > 1 => {
            let at = w.random.below(extents.remove(0));
            format!("vector.extract %v{x}[{at}] : {} from {ty}", type_of(&extents, element))
        }
        _ => {
            scalar(w, vector);
            return None;
        }
    };
    let value = w.name();
    w.line(&format!("%v{value} = {op}"));
    Some(Vector { value, extents, element })
}

/// Inserts all elements in any order, some of them twice.
fn inserted(w: &mut Writer<'_>, vector: &Vector) -> Vector {
    let (element, ty) = (vector.element, type_of(&vector.extents, vector.element));
    let mut value = vector.value;
    let all = vector.extents.iter().product::<u64>();
    let mut left: Vec<u64> = (0..all).collect();
    left.extend((0..w.random.below(4)).map(|_| w.random.below(all)));
    while !left.is_empty() {
        let number = left.swap_remove(w.random.below(left.len() as u64) as usize);
        let (at, scalar, next) = (position_of(number, &vector.extents), w.pick(element), w.name());
        w.line(&format!("%v{next} = vector.insert %v{scalar}, %v{value} [{}] : {element} into {ty}", list(&at)));
        value = next;
    }
    Vector { value, ..vector.clone() }
}

/// Returns the position of an element by its number in row-major order.
fn position_of(mut number: u64, extents: &[u64]) -> Vec<u64> {
    let mut at = vec![0; extents.len()];
    for (index, extent) in at.iter_mut().zip(extents).rev() {
        *index = number % extent;
        number /= extent;
    }
    at
}

/// Adds the elements of a vector of one dimension, and those that a mask selects, which is returned.
fn sum(w: &mut Writer<'_>, vector: &Vector) -> Vector {
    let sum = format!("vector.reduction <add>, %v{} : {} into i32", vector.value, type_of(&vector.extents, "i32"));
    w.op("i32", &sum);
    let mask = mask(w, vector.extents.clone());
    w.op("i32", &format!("vector.mask %v{} {{ {sum} }} : {} -> i32", mask.value, type_of(&mask.extents, "i1")));
    mask
}

/// Creates a mask of a box.
fn mask(w: &mut Writer<'_>, extents: Vec<u64>) -> Vector {
    let bounds: Vec<u64> = extents.iter().map(|&extent| w.random.below(extent + 1)).collect();
    let bounds = if bounds.contains(&0) { vec![0; bounds.len()] } else { bounds };
    let value = w.name();
    w.line(&format!("%v{value} = vector.constant_mask [{}] : {}", list(&bounds), type_of(&extents, "i1")));
    Vector { value, extents, element: "i1" }
}

fn slice(w: &mut Writer<'_>, vector: &Vector) -> Vector {
    let offsets = position(w, &vector.extents);
    let sizes: Vec<u64> = vector.extents.iter().zip(&offsets).map(|(&n, &at)| 1 + w.random.below(n - at)).collect();
    let lists = [&offsets, &sizes, &vec![1; sizes.len()]].map(|numbers| list(numbers));
    let lists = format!("{{offsets = [{}], sizes = [{}], strides = [{}]}}", lists[0], lists[1], lists[2]);
    let [from, to] = [&vector.extents, &sizes].map(|extents| type_of(extents, vector.element));
    let value = w.name();
    w.line(&format!("%v{value} = vector.extract_strided_slice %v{} {lists} : {from} to {to}", vector.value));
    Vector { value, extents: sizes, element: vector.element }
}
