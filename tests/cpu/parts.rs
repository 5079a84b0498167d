//! In-place concatenation: single-use producers write slices of the result.

use super::{compiled, constant, numbers, parse, pick};
use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::DType;
use gradus::ir::eval::{Datum, floats_to_tensor};
use gradus::ir::random::Random;
use gradus::runtime::cpu::CompiledFunction;

/// Number of rows of all values.
const ROWS: usize = 7;

fn ty(columns: usize) -> String {
    format!("tensor<{ROWS}x{columns}xf32>")
}

/// Random products, views and concatenations. The last two values are returned.
struct Values {
    text: String,
    /// Number of columns of each value.
    columns: Vec<usize>,
}

impl Values {
    fn new() -> Values {
        let text = format!(
            "func.func @main(%v0: {}) -> RESULTS {{\n  %there = graph.constant dense<[{ROWS}, 1, -1]> : tensor<3xi64>\n  %back = \
             graph.constant dense<[{ROWS}, -1]> : tensor<2xi64>\n",
            ty(5)
        );
        Values { text, columns: vec![5] }
    }

    fn product(&mut self, random: &mut Random, from: usize) {
        let (i, n, made) = (self.columns.len(), self.columns[from], pick(random, &[1, 5, 16, 34, 70]));
        self.text += &constant(random, &format!("w{i}"), &[n, made]);
        let types = format!("({}, tensor<{n}x{made}xf32>) -> {}", ty(n), ty(made));
        self.text += &format!("  %v{i} = graph.matmul %v{from}, %w{i} : {types}\n");
        self.columns.push(made);
    }

    fn view(&mut self, from: usize) {
        let (i, n) = (self.columns.len(), self.columns[from]);
        let (plain, cube) = (ty(n), format!("tensor<{ROWS}x1x{n}xf32>"));
        self.text += &format!("  %c{i} = graph.reshape %v{from}, %there : ({plain}, tensor<3xi64>) -> {cube}\n");
        self.text += &format!("  %v{i} = graph.reshape %c{i}, %back : ({cube}, tensor<2xi64>) -> {plain}\n");
        self.columns.push(n);
    }

    fn beside(&mut self, parts: &[usize]) {
        let (i, made) = (self.columns.len(), parts.iter().map(|&p| self.columns[p]).sum());
        let values: Vec<String> = parts.iter().map(|p| format!("%v{p}")).collect();
        let types: Vec<String> = parts.iter().map(|&p| ty(self.columns[p])).collect();
        let [values, types] = [values, types].map(|all| all.join(", "));
        self.text += &format!("  %v{i} = graph.concat {values} {{axis = 1 : i64}} : ({types}) -> {}\n", ty(made));
        self.columns.push(made);
    }

    fn program(mut self) -> String {
        let last = self.columns.len() - 1;
        let [a, b] = [last, last - 1].map(|i| ty(self.columns[i]));
        self.text += &format!("  return %v{last}, %v{} : {a}, {b}\n}}\n", last - 1);
        self.text.replace("RESULTS", &format!("({a}, {b})"))
    }
}

#[test]
fn parts_are_written_where_they_belong() {
    let tool = Tool::gradus();
    let ctx = tool.context();
    for number in 0..300 {
        let mut random = Random::of(("parts", number));
        let mut values = Values::new();
        for count in 1..10 {
            // Recent values are preferred, so that many values have one use.
            let some = |random: &mut Random| count - 1 - random.below(count.min(3) as u64) as usize;
            match random.below(4) {
                0 | 1 => {
                    let from = some(&mut random);
                    values.product(&mut random, from);
                }
                2 => values.view(some(&mut random)),
                _ => {
                    let parts: Vec<usize> = (0..1 + random.below(3)).map(|_| some(&mut random)).collect();
                    values.beside(&parts);
                }
            }
        }
        let text = values.program();
        let m = parse(&ctx, &text).unwrap_or_else(|| panic!("it is valid: {text}"));
        let input = Datum::Tensor(floats_to_tensor(DType::F32, &[ROWS, 5], numbers(&mut random, ROWS * 5)));
        let mut interpreter = Interpreter::new(&m);
        let main = interpreter.function("main").expect("there is a function");
        let want = interpreter.call(main, vec![input.clone()]).unwrap_or_else(|stop| panic!("{stop:?}"));
        let compiled = compiled(&tool, &m, "{layout=auto}");
        let main = Interpreter::new(&compiled).function("main").expect("there is a function");
        let mut program = CompiledFunction::new(&compiled, main);
        // The second run starts with memory from the first.
        for _ in 0..2 {
            let have = program.call(vec![input.clone()]).unwrap_or_else(|stop| panic!("{stop:?}"));
            for (have, want) in have.iter().zip(&want) {
                let [have, want] = [have, want].map(|datum| datum.tensor().expect("a tensor").to_f64());
                let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-5 * b.abs().max(1.0);
                assert!(have.len() == want.len() && have.iter().zip(&want).all(near), "{text}");
            }
        }
    }
}
