//! The conversion of programs from and to binaries, which a machine declares once.

use crate::listing::{name_of, ops_of};
use crate::{DeviceBinaries, DeviceProgram, TargetError};
use gradus_cost::Machine;
use gradus_dialects::func;
use gradus_ir::{Builder, Context, Loc, Module, Op, OpDecl, OpState, Type, Value};
use gradus_simulators::Binary;
use std::fmt::Write;
use std::sync::Arc;

/// The name of the program that is read from a binary.
pub(crate) const PROGRAM: &str = "program";

/// A machine whose programs are ops and binaries.
pub(crate) trait MachineBinaries {
    /// Name of the machine.
    const NAME: &'static str;
    /// Names of the sections; the first one stands for all of them before the others.
    const SECTIONS: &'static [&'static str];
    /// Programs.
    type Program: OpDecl;
    /// Calls of them, with an attribute `callee`.
    type Call: OpDecl;

    /// Returns the binary of a program, with what its call needs, without types.
    fn binary(m: &Module, program: Op, call: Op) -> Result<Binary, TargetError>;

    /// Builds the program of a binary for a machine, which is not trusted, under the name [`PROGRAM`].
    fn build(b: &mut Builder<'_>, binary: &Binary, machine: &Machine) -> Result<(), TargetError>;

    /// Adds the operands of a call to its state.
    fn add_operands(state: &mut OpState, _: &Binary, operands: &[Value]) -> Result<(), TargetError> {
        state.operands.extend_from_slice(operands);
        Ok(())
    }

    /// Lists the instructions of a binary for a machine.
    fn disassemble(binary: &Binary, machine: &Machine) -> Result<String, TargetError>;
}

/// Returns the binaries of a machine's target.
pub(crate) const fn binaries<B: MachineBinaries>() -> DeviceBinaries {
    DeviceBinaries { programs: programs::<B>, describe: describe::<B>, read: read::<B> }
}

fn programs<B: MachineBinaries>(m: &Module) -> Result<Vec<DeviceProgram>, TargetError> {
    let calls: Vec<Op> = ops_of::<B::Call>(m).collect();
    let mut all = Vec::new();
    for program in ops_of::<B::Program>(m) {
        let name = name_of(m, program);
        let callee = m.ctx.symbol_attr(&name);
        // Other calls may have other extents, of as many elements.
        let Some(&call) = calls.iter().find(|&&call| m.inherent_attr(call, "callee") == Some(callee)) else { continue };
        let types = |values: &mut dyn Iterator<Item = Value>| values.map(|v| m.value_type(v)).collect::<Vec<Type>>();
        let operands = types(&mut m.operands(call).iter().copied());
        let ty = m.ctx.function_type(&operands, &types(&mut m.results(call)));
        let binary = Binary { types: m.ctx.display_type(ty), ..B::binary(m, program, call)? };
        all.push((name, binary.write()));
    }
    Ok(all)
}

/// Reads the container of a binary; `None` if it is of another machine.
fn open<B: MachineBinaries>(bytes: &[u8]) -> Result<Option<Binary>, TargetError> {
    let binary = Binary::read(bytes).map_err(|error| error.to_string())?;
    Ok(Some(binary).filter(|binary| binary.machine == B::NAME))
}

fn describe<B: MachineBinaries>(bytes: &[u8], machine: Option<&Machine>) -> Result<Option<String>, TargetError> {
    let Some(binary) = open::<B>(bytes)? else { return Ok(None) };
    let mut text = format!("machine {}, hash {:016x}\ntypes: {}\n", B::NAME, binary.hash, binary.types);
    let repeated = (binary.sections.len() + 1).saturating_sub(B::SECTIONS.len());
    for (i, section) in binary.sections.iter().enumerate() {
        let name = match i.checked_sub(repeated) {
            Some(after) => B::SECTIONS.get(after + 1).copied().unwrap_or_default().to_owned(),
            None if repeated > 1 => format!("{} {i}", B::SECTIONS[0]),
            None => B::SECTIONS[0].to_owned(),
        };
        let _ = writeln!(text, "{name}: {} bytes", section.len());
    }
    let listed = machine.map(|machine| B::disassemble(&binary, machine)).transpose()?;
    Ok(Some(text + &listed.unwrap_or_default()))
}

fn read<B: MachineBinaries>(
    ctx: &Arc<Context>,
    bytes: &[u8],
    machine: &Machine,
) -> Result<Option<Module>, TargetError> {
    let Some(binary) = open::<B>(bytes)? else { return Ok(None) };
    let mut m = Module::new(ctx.clone());
    let body = m.body();
    B::build(&mut Builder::at_end(&mut m, body), &binary, machine)?;
    let ty = ctx.parse_type(&binary.types).ok();
    let ty = ty.filter(|&ty| ctx.function_parts(ty).is_some());
    main::<B>(&mut m, &binary, ty.ok_or("the type of its program is no type of a function")?)?;
    Ok(Some(m))
}

/// Appends the function that calls the program of a binary.
fn main<B: MachineBinaries>(m: &mut Module, binary: &Binary, ty: Type) -> Result<(), TargetError> {
    let (ctx, loc) = (m.ctx.clone(), Loc::UNKNOWN);
    let (inputs, outputs) = ctx.function_parts(ty).unwrap_or_default();
    let mut function = OpState::new(&ctx, func::FuncOp::INFO.name, loc);
    function.inherent(&ctx, "sym_name", Some(ctx.string_attr("main")));
    function.inherent(&ctx, "function_type", Some(ctx.type_attr(ty)));
    function.regions = 1;
    let body = m.body();
    let function = Builder::at_end(m, body).create(function);
    let region = m.regions(function)[0];
    let block = m.entry(region).unwrap_or_else(|| m.add_block(region));
    let operands: Vec<Value> = inputs.iter().map(|&ty| m.add_block_arg(block, ty, loc)).collect();
    let mut call = OpState::new(&ctx, B::Call::INFO.name, loc);
    call.inherent(&ctx, "callee", Some(ctx.symbol_attr(PROGRAM)));
    B::add_operands(&mut call, binary, &operands)?;
    call.result_types.extend_from_slice(outputs);
    let call = Builder::at_end(m, block).create(call);
    let mut end = OpState::new(&ctx, func::ReturnOp::INFO.name, loc);
    end.operands.extend(m.results(call));
    Builder::at_end(m, block).create(end);
    Ok(())
}
