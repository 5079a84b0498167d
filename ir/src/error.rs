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

/// Makes a type an [`Error`](std::error::Error) whose text is one of its fields. `struct Type(String)`, which has no other, also
/// converts from and into texts.
#[macro_export]
macro_rules! message_error {
    ($Type:ident) => {
        $crate::message_error!($Type.0);

        impl From<String> for $Type {
            fn from(message: String) -> $Type {
                $Type(message)
            }
        }

        impl From<&str> for $Type {
            fn from(message: &str) -> $Type {
                $Type(message.to_owned())
            }
        }

        impl From<$Type> for String {
            fn from(error: $Type) -> String {
                error.0
            }
        }
    };
    ($Type:ident.$field:tt) => {
        impl std::fmt::Display for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.$field)
            }
        }

        impl std::error::Error for $Type {}
    };
}
