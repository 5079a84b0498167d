//! Programs of clusters that run at once on disjoint clusters of a machine.

use crate::{Sharing, TargetError, Tenant, Together};
use gradus_cost::Machine;
use gradus_interp::Interpreter;
use gradus_ir::eval::Datum;
use gradus_ir::{DType, Op, OpDecl, Tensor};
use gradus_machines::cluster::{CallOp, Program};
use gradus_simulators::cluster::{ClusterMachine, ClusterProgram, Statistics};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// How programs share the clusters.
pub(crate) const SHARING: Sharing =
    Sharing { pass: "form-layers", option: "clusters", number: "clusters", run: together };

/// A program that ran alone, with its data.
struct Alone {
    program: Program,
    operands: Vec<Tensor>,
    results: Vec<Tensor>,
    cycles: u64,
}

/// Runs the program of each function alone, then all of them at once.
fn together(tenants: &[Tenant<'_>], machine: &Machine) -> Result<Vec<Together>, TargetError> {
    let machine = machine.parameters(ClusterMachine::of)?;
    let alone = tenants.iter().map(run_alone).collect::<Result<Vec<_>, _>>()?;
    let codes: Vec<ClusterProgram> = alone.iter().map(|one| one.program.code.clone()).collect();
    let code =
        ClusterProgram::together(&codes).ok_or("the programs together need too many clusters or bytes of memory")?;
    let all = Program { machine, code };
    let operands: Vec<Tensor> = alone.iter().flat_map(|one| one.operands.iter().cloned()).collect();
    let shape = |t: &Tensor| (t.dtype(), t.shape().to_vec());
    let shapes: Vec<(DType, Vec<usize>)> = alone.iter().flat_map(|one| one.results.iter().map(shape)).collect();
    let (results, statistics) = all.run(&operands, &shapes, true).map_err(|trap| trap.to_string())?;
    let (mut results, mut first) = (results.into_iter(), 0);
    let share = |one: &Alone| {
        let clusters = first..first + one.program.code.records.len();
        first = clusters.end;
        let beside: Vec<Tensor> = results.by_ref().take(one.results.len()).collect();
        let equal = beside == one.results;
        Together { alone: one.cycles, together: end(&statistics, &clusters), equal, unit: "cycles" }
    };
    Ok(alone.iter().map(share).collect())
}

/// The cycle in which all that clusters of a range began is complete.
fn end(statistics: &Statistics, clusters: &Range<usize>) -> u64 {
    let mine = statistics.trace.iter().filter(|span| clusters.contains(&(span.record.cluster as usize)));
    mine.map(|span| span.end).max().unwrap_or(0)
}

/// Runs a function, and returns its only call of a program.
fn run_alone(tenant: &Tenant<'_>) -> Result<Alone, TargetError> {
    let &Tenant { module: m, function, ref inputs } = tenant;
    let calls: Vec<Op> = m.ops_under(function).into_iter().filter(|&op| CallOp::cast(m, op).is_some()).collect();
    let &[call] = &calls[..] else {
        return Err(
            format!("a function with {} programs cannot share the machine: it must have one", calls.len()).into()
        );
    };
    let program = CallOp::program(m, call)?;
    let seen = Arc::new(Mutex::new(None));
    let (known, data) = (program.clone(), seen.clone());
    let interpreter = Interpreter::new(m).with_kernels(Box::new(move |args, operands| {
        (args.op == Some(call)).then(|| {
            let (results, counts) = known.call(args, operands)?;
            *data.lock().unwrap_or_else(PoisonError::into_inner) =
                Some((operands.to_vec(), results.clone(), counts.cycles));
            Ok(results)
        })
    }));
    { interpreter }.call(function, inputs.clone()).map_err(|stop| stop.diagnostic(m).message)?;
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (operands, results, cycles) = seen.ok_or("the program was not called")?;
    let tensors = |data: Vec<Datum>| data.iter().map(|d| d.tensor().cloned()).collect::<Result<Vec<_>, _>>();
    let [operands, results] = [operands, results].map(tensors).map(|t| t.map_err(|trap| trap.to_string()));
    Ok(Alone { program, operands: operands?, results: results?, cycles })
}
