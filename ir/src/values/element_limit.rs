//! The limit of the elements of results during an execution, which its fuel determines.

use std::cell::Cell;

thread_local! {
    /// The limit, and whether a result exceeded it.
    static LIMIT: Cell<(usize, bool)> = const { Cell::new((usize::MAX, false)) };
}

/// Runs `f` with a limit of the elements of a result. Returns with its result whether an op was refused by the limit.
pub fn with_element_limit<R>(elements: usize, f: impl FnOnce() -> R) -> (R, bool) {
    let outer = LIMIT.replace((elements, false));
    let result = f();
    (result, LIMIT.replace(outer).1)
}

/// Whether a result of this number of elements is within the limit.
pub fn is_within_element_limit(elements: usize) -> bool {
    let (limit, exceeded) = LIMIT.get();
    LIMIT.set((limit, exceeded || elements > limit));
    elements <= limit
}
