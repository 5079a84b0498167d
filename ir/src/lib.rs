//! Gradus's IR: the in-memory form, the textual form, and the infrastructure for passes.
//!
//! # The program
//!
//! A [`Module`] owns ops. An [`Op`] has a name, operands, results, attributes, successors and regions. A [`Region`] is
//! a list of [`Block`]s, the first of which is its entry; a block has arguments and a list of ops, the last of which is
//! its terminator unless the parent op needs none. A [`Value`] is a result or a block argument and has one [`Type`].
//!
//! *Evaluation*: ops of a block run in order; the terminator transfers control. *Dominance*: a definition dominates its
//! uses, in nested regions too, except in ops isolated from above. In graph regions (a module's body) order has no
//! meaning. *Effects*: an op has the side effects of its declaration ([`Effects`]); an unregistered op may have any.
//! *Symbols*: an op with a `sym_name` is a symbol of the nearest enclosing symbol table, and `@a::@b` refers to `b` in
//! the table `a`.
//!
//! # The nouns
//!
//! [`Context`] interns types, attributes and names, so that equal ones are one `u32`. [`OpInfo`] is an op's
//! declaration, written with [`macro@op`] and collected in a [`Dialect`]. [`Builder`] creates ops, [`Rewriter`] changes
//! them on behalf of patterns, a [`Pass`] does either, and a [`Diagnostic`] reports an error with its location. This
//! crate depends on no dialect, prints nothing and reads no file.
//!
//! ```
//! use gradus_ir::{Context, Module, ParseOptions, PrintOptions, parse_module};
//!
//! let ctx = Context::new(&[]);
//! let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
//! let m: Module = parse_module(&ctx, "x.mlir", r#"%a = "t.x"() : () -> i32"#.to_owned(), options).unwrap();
//! assert_eq!(m.num_ops(), 2);
//! assert!(m.to_text(PrintOptions::default()).contains("%0 = \"t.x\"() : () -> i32"));
//! ```
//!
//! # Modules
//!
//! | module | contents |
//! |---|---|
//! | `entity` | `u32` keys, the arenas that allocate them, secondary maps |
//! | `intern`, `types`, `attrs`, `context` | the state that modules share; it knows no declarations, rules or syntax, which `registry` stores in it type-erased |
//! | `module`, `edit`, `copy`, `builder` | the arena of ops, blocks, regions and values: intrusive lists for the ops of a block and the uses of a value, operands as ranges of one array |
//! | `constraint`, `traits`, `op_info`, `parametric`, `registry`, `define*` | declarations as tables; the registered dialects; the code that `#[op]`, `#[ty]` and `#[attr]` generate |
//! | `effects`, `control`, `branch`, `typing` | interfaces: memory effects, control flow, values that branches forward, type inference |
//! | `extension` | typed data that analyses and machines add to declarations |
//! | `text` | parsing and printing; locations (`loc`, `source`) and diagnostics (`diag`) |
//! | `verify`, `dominance`, `symbols` | the verifier, dominance, symbol tables |
//! | `rewriting`: `rewrite`, `greedy`, `simplify_regions`, `rules` | patterns, the greedy driver, simplification of regions, declarative rules |
//! | `rewriting`: `pattern_rewriter`, `conversion` | the rewriter of both drivers; dialect conversion |
//! | `pass` | pipelines, options, instrumentation, actions, reproducers |
//! | `representation`, `retype` | values represented by values of other types; modules with other types |
//! | `threads` | functions as modules of their own (`module_split`), shared by threads (`partition`) |
//! | `values`: `tensor`, `datum`, `memref`, `memory`, `byte_buffer`, `races`, `trap`, `eval` | values at run time, memory with a poison bit for each byte, data races, traps |
//! | `values`: `poison`, `scalar`, `access` | results of poison operands; semantics specialised once per op |
//! | `values`: `float`, `layout` | MLIR's float formats, strided layouts |
//! | `affine` | affine expressions, maps and integer sets |
//! | `svg` | drawing, for reports |
//!
//! # Threads
//!
//! A thread gets a copy of its functions: a module of its own in the same context, with maps to the original keys. Results
//! are merged into the original rows, with use lists in the original order, so that passes behave as on one thread; diagnostics
//! are sorted afterwards. Lookups of interned values take no lock.

pub mod affine;
mod attrs;
pub mod branch;
mod builder;
mod constraint;
mod context;
pub mod control;
mod copy;
mod declaration_error;
pub mod declarations;
#[doc(hidden)]
pub mod define;
mod define_params;
pub mod dominance;
mod edit;
pub mod effects;
pub mod entity;
pub mod equal;
mod error;
mod extension;
mod intern;
mod module;
mod op_info;
mod parametric;
pub mod pass;
pub mod prelude;
pub mod random;
mod registry;
mod representation;
mod retype;
mod rewriting;
pub mod svg;
pub mod symbols;
mod text;
mod threads;
mod traits;
mod types;
mod typing;
mod values;
pub mod verify;
mod violation;

/// The names that the expansion of the attribute [`macro@op`] needs. An import of the attribute imports this module too.
#[doc(hidden)]
pub mod op {
    pub use crate::{define_op, eval};
}

/// Those of [`macro@ty`].
#[doc(hidden)]
pub mod ty {
    pub use crate::define_type;
}

/// Those of [`macro@attr`].
#[doc(hidden)]
pub mod attr {
    pub use crate::define_attr;
}

pub use attrs::{AttrData, Dense, Int, Piece};
pub use builder::Builder;
pub use builder::InsertPoint;
pub use constraint::{AttrKind, AttrSpec, AttrText, Flags, TypeConstraint};
pub use context::Context;
pub use copy::ValueMap;
pub use edit::OpState;
pub use effects::{Access, Effects};
pub use extension::Extension;
pub use gradus_ir_macros::{attr, op, ty};
pub use intern::{Attr, OpName, Str, Type};
pub use module::{Block, Def, Module, Op, Region, Resource, Resources, Value, ValueList};
pub use op_info::TypeRelation;
pub use op_info::{
    Arity, ControlFn, ControlMemoryFn, CountedFn, Dialect, EdgesFn, ElementAccessFn, EvalFn, ExecFn, FoldResult,
    Folded, Global, GlobalFn, GroupSpec, JumpFn, OpArgs, OpDecl, OpInfo, ScalarFn, SlotRole, SuccessorOperandsFn,
    ValueSpec, declared_names,
};
pub use parametric::{
    AttrDecl, AttrInfo, ConstantFn, ContainsFn, DrawFn, ParamArgs, ParamError, Parametric, ReprFn, TypeDecl, TypeInfo,
    ValueFn, VerifyParamsFn,
};
pub use pass::{Pass, PassContext, PassInfo, Pipeline, Refusal};
pub use representation::Representation;
pub use rewriting::pattern_rewriter::{Change, PatternRewriter};
pub use rewriting::rewrite::{Pattern, Rewriter};
pub use rewriting::{conversion, greedy, rewrite, rules};
pub use symbols::symbol_name;
pub use text::diag::{self, Diagnostic};
pub use text::loc::Loc;
pub use text::source::SourceFile;
pub use text::{
    Directive, OpParser, OpPrinter, Param, ParseError, ParseOptions, ParseResult, PrintOptions, Reader, RegionArg,
    ValueGroup, ValueNames, ValueRef, disagreement, first_difference, parse_module, parse_single_op, parse_source,
    read_again,
};
pub use traits::Traits;
pub use types::{DYNAMIC, Signedness, TypeData, VSCALE};
pub use typing::InferError;
pub use values::own_value::{Own, OwnValue};
pub use values::tensor::{DType, Elem, Tensor, TensorError};
pub use values::{access, element_limit, eval, float, layout, memory, scalar, tensor};
pub use verify::verify;
pub use violation::Violation;
