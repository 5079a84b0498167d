//! Targets: the machines that Gradus compiles for, a declaration each.
//!
//! A [`Target`] ties together a machine description, a cost model, a pipeline and an executor. Tools list the targets
//! of this crate and their own; all commands and passes know targets from that list only.
//!
//! The numbers of a machine are in a description, each with unit and source: `machines/NAME.toml`, or beside the simulator of the machine.
//! The embedded file is the schema of `--machine FILE`, which has some of its keys, with their units. A target with several machines, such as
//! `cpu`, embeds the numbers in which the others differ; the processor's vector extensions choose among them, where no file is given.
//! A cost model reads its numbers once into a struct (`machine_numbers!`) and returns a function of an op;
//! in the text of a pipeline, `$key` stands for a number. Cost models are registered in the context, type-erased, where
//! `saturate` and `apply-rules` find them by name. A model names the ops that its target implements; those of `cpu` follow from
//! the tables of its kernels and lowerings. Other ops cost `NEVER` or, on `cpu`, the price of their evaluation by reference.
//!
//! The features, on by default: `cpu` adds the target `cpu` with its kernels, `networks` the targets of networks.

#[cfg(feature = "cpu")]
mod a64_ext;
#[cfg(feature = "cpu")]
mod a64_picture;
#[cfg(feature = "networks")]
mod binaries;
#[cfg(feature = "networks")]
mod chart;
#[cfg(feature = "networks")]
mod cluster;
#[cfg(feature = "networks")]
mod cluster_picture;
#[cfg(feature = "networks")]
mod cluster_sharing;
#[cfg(feature = "cpu")]
mod cpu;
#[cfg(feature = "cpu")]
mod cpu_probes;
mod device;
mod error;
mod executable;
#[cfg(feature = "networks")]
mod layer_names;
#[cfg(feature = "networks")]
mod listing;
#[cfg(feature = "networks")]
mod nna;
#[cfg(feature = "networks")]
mod nna_picture;
#[cfg(feature = "networks")]
mod npu;
#[cfg(feature = "networks")]
mod npu_memory;
#[cfg(feature = "networks")]
mod npu_picture;
#[cfg(feature = "networks")]
mod simulated;

pub use device::{DescribeBinary, DeviceBinaries, DeviceProgram, ReadBinary};
pub use error::TargetError;
pub use executable::{Executable, InterpretedFunction, OpTimes, Signature, Statistic, Stop, WITH_HOST};

use gradus_cost::{CostModel, Machine};
use gradus_ir::eval::Datum;
use gradus_ir::{Dialect, Module, Op, PassInfo};

/// All targets. To add one, write its file and add two lines here.
pub const TARGETS: &[&Target] = &[
    #[cfg(feature = "cpu")]
    &cpu::TARGET,
    #[cfg(feature = "cpu")]
    &a64_ext::TARGET,
    #[cfg(feature = "networks")]
    &nna::TARGET,
    #[cfg(feature = "networks")]
    &npu::TARGET,
    #[cfg(feature = "networks")]
    &cluster::TARGET,
];

/// A target, declared once.
pub struct Target {
    /// Name, description, machine description, costs, implemented ops and rule groups.
    pub cost: CostModel,
    /// Version of lowered programs, which compiled ones name in their header. It changes when programs of an earlier version
    /// can no longer be executed, or would compute something else.
    pub version: u32,
    /// The pipeline that lowers a program, in which `$key` stands for a number of the machine; empty for costs only.
    pub pipeline: &'static str,
    /// The precisions in which the target can compute networks of f32, besides f32.
    pub precisions: &'static [Precision],
    /// Dialects that the target brings.
    pub dialects: &'static [&'static Dialect],
    /// Passes that the target brings.
    pub passes: &'static [&'static PassInfo],
    /// Prepares a function for execution; `None` if there is no executor.
    pub load: Option<Load>,
    /// Prepares a function of a program that it keeps; `None` if there is no such executor.
    pub load_owned: Option<LoadOwned>,
    /// Whether the execution of a function of a lowered program gives the bits of its semantics, rather than results that are rounded otherwise.
    pub is_exact: fn(&Module, Op) -> bool,
    /// Lists a lowered program for `inspect`, such as its instructions.
    pub listing: Option<fn(&Module) -> String>,
    /// The programs of its device as binaries, if it has one.
    pub device: Option<DeviceBinaries>,
    /// Draws a run of a lowered program for `inspect --svg`, such as the use of units and memories over time.
    pub picture: Option<Picture>,
    /// Shows the features of a lowered program in a memory for `inspect --memory`.
    pub memory: Option<MemoryView>,
    /// How several programs run at once on parts of the machine; `None` if they cannot.
    pub sharing: Option<Sharing>,
    /// Whether programs run on the machine of this process, so that their time can be measured.
    pub native: bool,
    /// Programs whose times determine numbers of the machine, in the order in which these are fitted.
    pub probes: &'static [Probe],
}

/// A program whose time depends on a number of the machine above all.
pub struct Probe {
    /// The number.
    pub number: &'static str,
    /// Writes the program, which has one function.
    pub program: fn() -> String,
    /// Whether the number matters on a machine.
    pub applies: fn(&Machine) -> bool,
}

/// A type in which a target computes networks of f32, which a user chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Precision {
    /// The name of the type.
    pub name: &'static str,
    /// The pass that converts networks to it.
    pub pass: &'static str,
    /// The pass of the target's pipeline before which it runs.
    pub before: &'static str,
}

/// Prepares a function of a valid lowered program, which may come from a file and is not trusted, for execution on a
/// number of threads.
pub type Load = for<'m> fn(&'m Module, Op, &Machine, usize) -> Result<Box<dyn Executable + 'm>, TargetError>;

/// Prepares a function of a valid lowered program, as [`Load`] does, and takes the program.
pub type LoadOwned = fn(Module, Op, &Machine, usize) -> Result<Box<dyn Executable>, TargetError>;

/// Draws a picture of a lowered program as SVG; the error is the reason why there is none.
pub type Picture = fn(&Module) -> Result<String, TargetError>;

/// A caption and the rows of a table, the header first.
pub type CaptionedTable = (String, Vec<Vec<String>>);

/// How the features of a lowered program in a memory are shown; errors are the reason why they are not.
#[derive(Clone, Copy)]
pub struct MemoryView {
    /// Lists them.
    pub table: fn(&Module) -> Result<CaptionedTable, TargetError>,
    /// Draws them as SVG.
    pub picture: Picture,
}

/// How several programs run at once on parts of a machine.
#[derive(Clone, Copy)]
pub struct Sharing {
    /// The pass of the target's pipeline that compiles for a part.
    pub pass: &'static str,
    /// Its option: the size of the part.
    pub option: &'static str,
    /// The number of the machine that is divided.
    pub number: &'static str,
    /// Runs functions of lowered programs, each alone and all at once; the error is the reason why they cannot.
    pub run: fn(&[Tenant<'_>], &Machine) -> Result<Vec<Together>, TargetError>,
}

/// A function of a lowered program that shares a machine, with its inputs.
pub struct Tenant<'m> {
    /// The program.
    pub module: &'m Module,
    /// The function.
    pub function: Op,
    /// Its inputs.
    pub inputs: Vec<Datum>,
}

/// A program that ran alone on its part of a machine, and beside others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Together {
    /// Time alone.
    pub alone: u64,
    /// Time beside the others.
    pub together: u64,
    /// Whether its results are the same.
    pub equal: bool,
    /// Unit of the times.
    pub unit: &'static str,
}

impl Target {
    /// The defaults of a declaration: a target with costs only.
    pub const DEFAULT: Target = Target {
        cost: CostModel::DEFAULT,
        version: 1,
        pipeline: "",
        precisions: &[],
        dialects: &[],
        passes: &[],
        load: None,
        load_owned: None,
        is_exact: |_, _| false,
        listing: None,
        device: None,
        picture: None,
        memory: None,
        sharing: None,
        native: false,
        probes: &[],
    };

    /// Returns the pipeline for a machine, as a text that `opt --pass-pipeline` takes.
    ///
    /// # Errors
    /// There is no pipeline, or a number of the machine is missing.
    pub fn pipeline(&self, machine: &Machine) -> Result<String, TargetError> {
        match self.pipeline {
            "" => Err(TargetError::NoPipeline(self.cost.name)),
            text => Ok(machine.fill(text)?),
        }
    }

    /// Returns the pipeline for a machine and a precision.
    ///
    /// # Errors
    /// As for [`pipeline`](Target::pipeline), or the target does not have the precision.
    pub fn pipeline_in(&self, machine: &Machine, precision: &str) -> Result<String, TargetError> {
        let text = self.pipeline(machine)?;
        let known = self.precisions.iter().find(|known| known.name == precision);
        let at = known.and_then(|known| Some((known.pass, text.find(known.before)?)));
        let (pass, at) =
            at.ok_or_else(|| TargetError::Precision(self.cost.name, precision.to_owned(), self.precisions))?;
        Ok(format!("{}{pass},{}", &text[..at], &text[at..]))
    }

    /// Prepares a function of a lowered program for execution.
    ///
    /// # Errors
    /// There is no executor, or it does not support the function.
    pub fn load<'m>(
        &self,
        m: &'m Module,
        function: Op,
        machine: &Machine,
        threads: usize,
    ) -> Result<Box<dyn Executable + 'm>, TargetError> {
        let load = self.load.ok_or(TargetError::NoExecutor(self.cost.name))?;
        load(m, function, machine, threads)
    }
}
