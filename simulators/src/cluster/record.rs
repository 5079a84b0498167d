//! Records: transfers, synchronization, and compute records, which are in the files of this folder.

use super::compute::Compute;
use super::operands::{Tile, Transfer};
use super::rules::rules;
use crate::fields::{Fields, Visitor};

/// Declares the records: transfers and synchronization, and compute records by name and file.
macro_rules! records_with_compute {
    ($($(#[$doc:meta])* $Name:ident = $name:literal in $file:ident;)*) => {
        $(mod $file; pub use $file::$Name;)*

        /// A record: a function and its arguments. The cluster that executes it is `here`. A mask has bit `i` for cluster `i`.
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub enum Record {
            /// Begins a read from DDR into the same place of each cluster of the mask, in which `event` is then counted.
            Fetch {
                /// The copy.
                transfer: Transfer,
                /// Destinations.
                clusters: u32,
                /// Event.
                event: u32,
            },
            /// Begins a write from here to DDR; `event` is then counted here.
            Store {
                /// The copy.
                transfer: Transfer,
                /// Event.
                event: u32,
            },
            /// Begins a copy from here into the same place of each cluster of the mask, in which `event` is then counted.
            Send {
                /// The copy.
                transfer: Transfer,
                /// Destinations.
                clusters: u32,
                /// Event.
                event: u32,
            },
            /// Counts `event` in each cluster of the mask.
            Notify {
                /// Destinations.
                clusters: u32,
                /// Event.
                event: u32,
            },
            /// Waits until `event` has been counted `count` times here.
            Wait {
                /// Event.
                event: u32,
                /// Number of times.
                count: u32,
            },
            $($(#[$doc])* $Name($Name),)*
        }

        /// The names of the functions. A function's id is its index, plus 1: zeros are no record.
        pub const FUNCTIONS: &[&str] = &["fetch", "store", "send", "notify", "wait", $($name),*];

        impl Record {
            /// Returns the index of the function in [`FUNCTIONS`].
            pub fn function(&self) -> usize {
                let name = match self {
                    Record::Fetch { .. } => "fetch",
                    Record::Store { .. } => "store",
                    Record::Send { .. } => "send",
                    Record::Notify { .. } => "notify",
                    Record::Wait { .. } => "wait",
                    $(Record::$Name(_) => $name,)*
                };
                FUNCTIONS.iter().position(|&function| function == name).unwrap_or(FUNCTIONS.len())
            }

            /// Returns the record of a function whose fields are zero; `None` for an index beyond [`FUNCTIONS`].
            pub fn blank(function: usize) -> Option<Record> {
                let transfer = Transfer::default();
                let all = [
                    Record::Fetch { transfer, clusters: 0, event: 0 },
                    Record::Store { transfer, event: 0 },
                    Record::Send { transfer, clusters: 0, event: 0 },
                    Record::Notify { clusters: 0, event: 0 },
                    Record::Wait { event: 0, count: 0 },
                    $(Record::$Name($Name::default()),)*
                ];
                all.get(function).copied()
            }

            /// Visits the fields in order.
            ///
            /// # Errors
            /// Those of the visitor.
            pub fn visit_fields<V: Visitor>(&mut self, v: &mut V) -> Result<(), V::Error> {
                match self {
                    Record::Fetch { transfer, clusters, event } | Record::Send { transfer, clusters, event } => {
                        transfer.visit("transfer", v)?;
                        clusters.visit("clusters", v)?;
                        event.visit("event", v)
                    }
                    Record::Store { transfer, event } => {
                        transfer.visit("transfer", v)?;
                        event.visit("event", v)
                    }
                    Record::Notify { clusters, event } => {
                        clusters.visit("clusters", v)?;
                        event.visit("event", v)
                    }
                    Record::Wait { event, count } => {
                        event.visit("event", v)?;
                        count.visit("count", v)
                    }
                    $(Record::$Name(compute) => compute.visit_fields(v),)*
                }
            }

            /// Returns the compute record.
            pub(super) fn compute(&self) -> Option<&dyn Compute> {
                match self {
                    $(Record::$Name(compute) => Some(compute),)*
                    _ => None,
                }
            }

            /// Returns the input of a compute record.
            pub fn input(&self) -> Option<&Tile> {
                match self {
                    $(Record::$Name(compute) => Some(&compute.input),)*
                    _ => None,
                }
            }

            /// Returns the output of a compute record.
            pub fn output(&self) -> Option<&Tile> {
                match self {
                    $(Record::$Name(compute) => Some(&compute.output),)*
                    _ => None,
                }
            }

            /// Returns the number of the task of a compute record.
            pub fn task(&self) -> Option<u32> {
                match self {
                    $(Record::$Name(compute) => Some(compute.task),)*
                    _ => None,
                }
            }

            /// Returns the number of the task of a compute record, to change it.
            pub(super) fn task_mut(&mut self) -> Option<&mut u32> {
                match self {
                    $(Record::$Name(compute) => Some(&mut compute.task),)*
                    _ => None,
                }
            }
        }
    };
}

records_with_compute! {
    /// A convolution.
    Conv = "conv" in conv;
    /// A pool.
    Pool = "pool" in pool;
    /// An elementwise function.
    Map = "map" in map;
    /// A softmax.
    Softmax = "softmax" in softmax;
    /// A local response normalization.
    Lrn = "lrn" in lrn;
}

/// Checks that each field of a record is in its range; a program has `clusters` clusters.
///
/// # Errors
/// The rule that is violated.
pub fn check_fields(record: &Record, clusters: usize) -> Result<(), &'static str> {
    if let Some(t) = record.transfer() {
        rules(&[(t.rows >= 1 && t.cols >= 1 && t.bytes >= 1, "a transfer has at least one byte")])?;
    }
    match record {
        Record::Fetch { clusters: mask, .. }
        | Record::Send { clusters: mask, .. }
        | Record::Notify { clusters: mask, .. } => rules(&[
            (*mask != 0, "a mask has at least one cluster"),
            (u64::from(*mask) >> clusters == 0, "a mask has clusters of the program only"),
        ]),
        _ => record.compute().map_or(Ok(()), Compute::check),
    }
}

/// Consecutive bytes of DDR.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extent {
    /// First byte.
    pub offset: u32,
    /// Number of bytes.
    pub bytes: u32,
}

/// A program: the records of each cluster, and DDR.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClusterProgram {
    /// Records of each cluster.
    pub records: Vec<Vec<Record>>,
    /// Constants, from byte 0 of DDR.
    pub constants: Vec<u8>,
    /// Bytes of DDR.
    pub ddr_bytes: u32,
    /// Each operand in DDR.
    pub operands: Vec<Extent>,
    /// Each result in DDR.
    pub results: Vec<Extent>,
}
