//! Layouts, address tables and moves, against loops that are written out: data from elsewhere, and random ones.

mod convolutions;
mod golden;
mod moves;
mod oracle;
mod random;
mod tables;
