//! Layouts, address tables and moves, against loops that are written out: data from elsewhere, and random ones.

mod golden;
mod moves;
mod oracle;
mod random;
mod tables;
