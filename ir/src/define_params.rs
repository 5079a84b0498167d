//! The code that `#[ty]` and `#[attr]` generate: a typed handle, its accessors and builder, and the declaration as data.

/// Expands the normalized form that `#[ty]` emits. Internal.
#[doc(hidden)]
#[macro_export]
macro_rules! define_type {
    ({ #[$doc:meta] $vis:vis $Name:ident $name:literal $summary:literal $text:literal } params { $($param:tt)* } $($rest:tt)*) => {
        $crate::define_params!(
            @handle { #[$doc] $vis $Name $name $text } [$($param)*] $($rest)* TypeDecl TypeInfo Type type_params
        );
        $crate::define_params!(@builder $vis $Name [$($param)*] get(declared_type) ());

        #[allow(dead_code, reason = "made for every type alike")]
        impl $Name {
            /// The constraint that a type is one of this declaration.
            $vis const TYPE: $crate::TypeConstraint = $crate::TypeConstraint {
                summary: $summary,
                check: |ctx, ty| <$Name as $crate::TypeDecl>::cast(ctx, ty).is_some(),
                only: None,
            };
        }
    };
}

/// Expands the normalized form that `#[attr]` emits. Internal.
#[doc(hidden)]
#[macro_export]
macro_rules! define_attr {
    ({ #[$doc:meta] $vis:vis $Name:ident $name:literal $summary:literal $text:literal } params { $($param:tt)* } $($rest:tt)*) => {
        $crate::define_params!(
            @handle { #[$doc] $vis $Name $name $text } [$($param)*] $($rest)* AttrDecl AttrInfo Attr attr_params
        );
        $crate::define_params!(@builder $vis $Name [$($param)*] get(declared_attr) ());
        $crate::define_params!(@builder $vis $Name [$($param)*] get_typed(declared_typed_attr) (of_type: $crate::Type));

        #[allow(dead_code, reason = "made for every attribute alike")]
        impl $Name {
            /// The constraint that an attribute is one of this declaration. Formats of ops omit its name.
            $vis const KIND: $crate::AttrKind = $crate::AttrKind {
                summary: $summary,
                check: |ctx, attr| <$Name as $crate::AttrDecl>::cast(ctx, attr).is_some(),
                text: $crate::AttrText::Declared($name),
            };
        }
    };
}

/// Expands what types and attributes have in common. Internal.
#[doc(hidden)]
#[macro_export]
macro_rules! define_params {
    (
        @handle { #[$docattr:meta] $vis:vis $Name:ident $name:literal $doc:literal }
        [$($param:tt)*]
        shared { $($skey:ident: $svalue:expr,)* }
        own { $($key:ident: $value:expr,)* }
        $Decl:ident $Info:ident $Handled:ident $params_of:ident
    ) => {
        #[$docattr]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $vis struct $Name(pub $crate::$Handled);

        impl $crate::$Decl for $Name {
            const INFO: &'static $crate::$Info = {
                // A static has a unique address, by which handles are compared.
                #[allow(clippy::needless_update, reason = "a declaration may state every field")]
                static INFO: $crate::$Info = $crate::$Info {
                    decl: $crate::define_params!(@decl $name $doc [$($param)*] { $($skey: $svalue,)* }),
                    $($key: $value,)*
                    ..$crate::$Info::DEFAULT
                };
                &INFO
            };

            fn wrap(handled: $crate::$Handled) -> Self {
                $Name(handled)
            }
        }

        #[allow(dead_code, reason = "made for every declaration alike")]
        impl $Name {
            /// Returns the parameters.
            $vis fn params(self, ctx: &$crate::Context) -> $crate::ParamArgs<'_> {
                ctx.$params_of(self.0).expect("of this declaration")
            }
        }

        $crate::define_params!(@accessors $vis $Name [$($param)*]);
    };
    (
        @decl $name:literal $doc:literal
        [$(($pname:ident $ptext:literal $parity:ident $pdoc:literal ($pkind:expr) ($pdefault:expr)))*]
        { $($key:ident: $value:expr,)* }
    ) => {
        $crate::Parametric {
            name: $name,
            doc: $doc,
            declared_at: Some($crate::declarations::SourceLine { file: file!(), line: line!() }),
            params: &[$($crate::AttrSpec {
                name: $ptext,
                doc: $pdoc,
                optional: matches!($crate::Arity::$parity, $crate::Arity::Optional),
                kind: &$pkind,
                default: $pdefault,
            }),*],
            $($key: $value,)*
            ..$crate::Parametric::DEFAULT
        }
    };
    (
        @accessors $vis:vis $Name:ident
        [$(($pname:ident $ptext:literal $parity:ident $pdoc:literal ($pkind:expr) ($pdefault:expr)))*]
    ) => {
        #[allow(dead_code, reason = "made for every declaration alike")]
        impl $Name {
            $($crate::define_params!(@accessor $vis $parity $pname $ptext $pdoc);)*
        }
    };
    (@accessor $vis:vis One $pname:ident $ptext:literal $pdoc:literal) => {
        #[doc = $pdoc]
        $vis fn $pname(self, ctx: &$crate::Context) -> $crate::Attr {
            self.params(ctx).attr($ptext).expect("a required parameter")
        }
    };
    (@accessor $vis:vis Optional $pname:ident $ptext:literal $pdoc:literal) => {
        #[doc = $pdoc]
        $vis fn $pname(self, ctx: &$crate::Context) -> Option<$crate::Attr> {
            self.params(ctx).attr($ptext)
        }
    };
    (
        @builder $vis:vis $Name:ident
        [$(($pname:ident $ptext:literal $parity:ident $pdoc:literal ($pkind:expr) ($pdefault:expr)))*]
        $get:ident($make:ident) ($($of_type:ident: $OfType:ty)?)
    ) => {
        #[allow(dead_code, clippy::too_many_arguments, reason = "made for every declaration alike")]
        impl $Name {
            /// Returns the one with these parameters and, if it is a typed attribute, this type.
            ///
            /// # Errors
            /// When a parameter violates its constraint, or the declaration rejects them.
            $vis fn $get(
                ctx: &$crate::Context,
                $($pname: $crate::define_op!(@attr_param $parity),)*
                $($of_type: $OfType,)?
            ) -> Result<Self, $crate::ParamError> {
                ctx.$make($crate::define_params!(@info $Name $make), &[$($pname.into()),*] $(, $of_type)?).map($Name)
            }
        }
    };
    (@info $Name:ident declared_type) => { <$Name as $crate::TypeDecl>::INFO };
    (@info $Name:ident $make:ident) => { <$Name as $crate::AttrDecl>::INFO };
}
