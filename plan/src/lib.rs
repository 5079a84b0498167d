//! Memory planning: buffers with lifetimes to offsets such that no two live ones share bytes, with the smallest peak.
//!
//! A [`Problem`] is a list of [`Buffer`]s and [`Pool`]s. [`plan`] returns the best plan that it finds within a
//! [`Budget`] of steps, and reports each better one before; a plan that meets its lower bound is optimal.
//! [`validate`] checks a plan by itself. The crate depends on nothing else of Gradus.
//!
//! ```
//! use gradus_plan::{Budget, Buffer, Pool, Problem, plan, validate};
//! use std::ops::ControlFlow;
//!
//! // A chain: each buffer is live together with the next.
//! let chain = (0..10).map(|i| Buffer { alignment: 64, ..Buffer::new(i, i + 2, 100) }).collect();
//! let problem = Problem::new(chain, vec![Pool { capacity: Some(256) }], Vec::new())?;
//! let plan = plan(&problem, Budget::seconds(0.05), &mut |_| ControlFlow::Continue(()))?;
//! assert_eq!((plan.peak(), plan.lower_bound()), (228, 228));
//! assert_eq!(validate(&problem, &plan), Ok(()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How
//!
//! First fit in several orders gives a plan at once. An exact search, complete for buffers without fixed offsets and
//! in-place pairs, then looks for a plan at the lower bound, the largest sum of live bytes, and by bisection between it
//! and the best peak; squeaky wheel optimization improves the order. Both take turns with twice the work each time.

mod budget;
pub mod csv;
mod first_fit;
mod instance;
mod orders;
mod planner;
mod problem;
mod search;
mod solve;
mod validate;

pub use budget::Budget;
pub use planner::{Infeasible, plan};
pub use problem::{Buffer, MAX_POOLS, Plan, Pool, Problem, ProblemError};
pub use validate::{Conflict, validate};
