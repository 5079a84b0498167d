//! Executed programs: a rounding that differs is a mistake if the execution promises the bits of the semantics.

use gradus::Tool;
use gradus::check::bisect::{Checked, Subject};
use gradus::check::{Execution, Floats, Options};
use gradus::ir::eval::{Datum, Trap, floats_to_tensor};
use gradus::ir::pass::Pipeline;
use gradus::ir::{DType, Module, Op, ParseOptions, parse_module};

const PROGRAM: &str = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.neg %x : tensor<4xf32>
  %1 = graph.neg %0 : tensor<4xf32>
  %2 = graph.neg %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}";

/// Negates numbers, with an error of some units in the last place.
struct Negation {
    units: u32,
    is_exact: bool,
}

impl Execution for Negation {
    fn name(&self) -> String {
        "a machine".to_owned()
    }

    fn run(&self, _: &Module, _: Op, inputs: &[Vec<Datum>]) -> Result<Vec<Result<Vec<Datum>, Trap>>, String> {
        let one = |input: &Vec<Datum>| {
            let negated = |x: f64| f64::from(f32::from_bits((-x as f32).to_bits() + self.units));
            let values: Vec<f64> = input[0].tensor()?.to_f64().into_iter().map(negated).collect();
            Ok(vec![Datum::Tensor(floats_to_tensor(DType::F32, &[4], values))])
        };
        Ok(inputs.iter().map(one).collect())
    }

    fn is_exact(&self, _: &Module, _: Op) -> bool {
        self.is_exact
    }

    fn steps(&self, m: &Module, function: Op) -> Vec<Op> {
        m.ops_under(function).into_iter().skip(1).collect()
    }

    fn interpret(&self, _: &mut Module, _: Op) {}
}

fn is_wrong(units: u32, is_exact: bool) -> bool {
    let tool = Tool::gradus();
    let ctx = tool.context();
    let executions: [Box<dyn Execution + Sync>; 1] = [Box::new(Negation { units, is_exact })];
    let subject = Subject {
        program: &|| parse_module(&ctx, "a.mlir", PROGRAM.to_owned(), ParseOptions::default()).expect("it is valid"),
        pipeline: &|| Pipeline::parse("builtin.module(cse)", &tool.passes).expect("the pipeline is right"),
        how: Default::default(),
        options: Options { floats: Floats::Rounding, ..Options::default() },
        executions: &executions,
    };
    match subject.check() {
        Checked::Wrong(culprit) => {
            assert!(culprit.error.message.contains("as it is executed on a machine"), "{}", culprit.error.message);
            true
        }
        Checked::Passed(_) => false,
        Checked::Failed(_) => panic!("the pass does not fail"),
    }
}

#[test]
fn a_rounding_is_a_mistake_where_bits_are_promised() {
    assert!(!is_wrong(0, true) && !is_wrong(0, false));
    assert!(is_wrong(1, true) && !is_wrong(1, false));
    assert!(is_wrong(1 << 22, true) && is_wrong(1 << 22, false));
}
