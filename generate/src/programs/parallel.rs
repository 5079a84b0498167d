//! Parallel loops of one to three dimensions, with remainders and reductions. Each iteration writes elements of its own.

use super::writer::ProgramWriter;
use gradus_ir::random::Random;

/// Number of elements of a buffer per dimension, above all indices.
const EXTENT: i64 = 12;
/// Buffers by rank.
const BUFFERS: [&str; 3] = ["memref<12xi32>", "memref<12x12xi32>", "memref<12x12x12xi32>"];

pub(super) fn draw(random: &mut Random) -> String {
    let mut w = ProgramWriter::new(random);
    let types: Vec<&str> = (0..1 + w.random.below(2)).map(|_| w.random.pick(&["i32", "i8", "index"])).collect();
    let parameters = ["i32", "i32", "i1", "index", BUFFERS[0], BUFFERS[1]];
    w.function("func.func @made0", &parameters, &types);
    for _ in 0..1 + w.random.below(3) {
        parallel(&mut w);
    }
    let values = w.picks(&types).join(", ");
    w.line(&format!("return {values} : {}\n}}", types.join(", ")));
    w.text
}

/// Draws constant bounds and steps of a dimension: often a multiple of the step or one more, sometimes none.
fn bounds(w: &mut ProgramWriter<'_>) -> [i64; 3] {
    let (first, step) = (w.random.below(4) as i64, 1 + w.random.below(3) as i64);
    let trips = w.random.below(5) as i64;
    let last = first + trips * step - w.random.below(step as u64) as i64 * i64::from(w.random.percent(50));
    [first, last.min(EXTENT), step]
}

fn parallel(w: &mut ProgramWriter<'_>) {
    let rank = 1 + w.random.below(5).min(2) as usize;
    let mut lists: [Vec<String>; 3] = Default::default();
    for _ in 0..rank {
        for (list, number) in lists.iter_mut().zip(bounds(w)) {
            list.push(format!("%v{}", w.index(number)));
        }
    }
    let reduced: Vec<&str> = if w.random.percent(40) { w.types(2) } else { Vec::new() };
    let reduced: Vec<&str> = reduced.into_iter().filter(|ty| *ty != "f32").collect();
    let inits = w.picks(&reduced);
    let buffers = w.known(BUFFERS[rank - 1]);
    let memory = match buffers.is_empty() {
        true => w.op(BUFFERS[rank - 1], &format!("memref.alloc() : {}", BUFFERS[rank - 1])),
        false => w.random.pick(&buffers),
    };
    let results = w.results(&reduced);
    let mark = w.enter();
    let dims: Vec<u32> = (0..rank).map(|_| w.value("index")).collect();
    let names = |names: &[u32]| names.iter().map(|name| format!("%v{name}")).collect::<Vec<_>>().join(", ");
    let [first, last, step] = lists.map(|list| list.join(", "));
    let carried = match reduced.is_empty() {
        true => String::new(),
        false => format!(" init ({}) -> ({})", inits.join(", "), reduced.join(", ")),
    };
    w.line(&format!("scf.parallel ({}) = ({first}) to ({last}) step ({step}){carried} {{", names(&dims)));
    for _ in 0..w.random.below(4) {
        let ty = w.random.pick(&["i32", "i32", "index", "i8"]);
        w.compute(ty);
    }
    let (value, at) = (w.compute("i32"), names(&dims));
    if w.random.percent(30) {
        let old = w.op("i32", &format!("memref.load %v{memory}[{at}] : {}", BUFFERS[rank - 1]));
        w.op("i32", &format!("arith.addi %v{old}, %v{value} : i32"));
    }
    let value = if w.random.percent(70) { w.pick("i32") } else { value };
    w.line(&format!("memref.store %v{value}, %v{memory}[{at}] : {}", BUFFERS[rank - 1]));
    reduce(w, &reduced);
    w.leave(mark);
    w.line("}");
    w.bind_all(&results, &reduced);
}

/// Writes the terminator with a reduction of each type by an associative and commutative op.
fn reduce(w: &mut ProgramWriter<'_>, types: &[&str]) {
    if types.is_empty() {
        return;
    }
    let values = w.picks(types).join(", ");
    let mut regions = Vec::new();
    for ty in types {
        let op = w.random.pick(&["addi", "muli", "xori", "maxsi", "minui"]);
        let (a, b, sum) = (w.name(), w.name(), w.name());
        let sum_of = format!("%v{sum} = arith.{op} %v{a}, %v{b} : {ty}\nscf.reduce.return %v{sum} : {ty}");
        regions.push(format!("{{\n^bb0(%v{a}: {ty}, %v{b}: {ty}):\n{sum_of}\n}}"));
    }
    w.line(&format!("scf.reduce({values} : {}) {}", types.join(", "), regions.join(", ")));
}
