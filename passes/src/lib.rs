//! Passes that stay on their level, one file each.
//!
//! [`PASSES`] is the registry: to add a pass, write its file and add two lines here, the module and the entry.

use gradus_ir::PassInfo;

mod canonicalize;
mod cse;
mod dce;
mod reconcile_unrealized_casts;

/// All passes, alphabetically. The order is that of listings; nothing else depends on it.
pub const PASSES: &[&PassInfo] = &[&canonicalize::INFO, &cse::INFO, &dce::INFO, &reconcile_unrealized_casts::INFO];
