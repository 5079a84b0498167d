//! Layouts, address tables and moves, against loops that are written out: data from elsewhere, and random ones.

mod convolutions;
mod copies;
mod golden;
mod oracle;
mod random;
mod tables;
