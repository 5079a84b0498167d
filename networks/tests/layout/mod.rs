//! Tests of layouts, address tables and copies against loops written out: data from another implementation, and random
//! cases.

mod convolutions;
mod copies;
mod golden;
mod oracle;
mod random;
mod tables;
