//! Errors that carry facts, and that become messages in hooks.

/// Makes a type with `Display` an [`Error`](std::error::Error), whose text is the message where `?` passes it on from a hook
/// that returns a [`Violation`](crate::Violation), such as `verify` and `infer`.
#[macro_export]
macro_rules! declared_error {
    ($($Type:ty),+) => { $(
        impl std::error::Error for $Type {}

        impl From<$Type> for String {
            fn from(error: $Type) -> String {
                error.to_string()
            }
        }

        impl From<$Type> for $crate::Violation {
            fn from(error: $Type) -> $crate::Violation {
                error.to_string().into()
            }
        }
    )+ };
}
