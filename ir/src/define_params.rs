//! The code that `#[ty]` and `#[attr]` generate: a typed handle, its accessors and builder, and the declaration as data.

/// Expands the normalized form that `#[ty]` emits. Internal.
#[doc(hidden)]
#[macro_export]
macro_rules! define_type {
    (
        { #[doc = $docattr:literal] $vis:vis $Name:ident $name:literal $summary:literal $doc:literal }
        params { $($param:tt)* }
        shared { $($skey:ident: $svalue:expr,)* }
        own { $($key:ident: $value:expr,)* }
    ) => {
        #[doc = $docattr]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $vis struct $Name(pub $crate::Type);

        impl $crate::TypeDecl for $Name {
            const INFO: &'static $crate::TypeInfo = {
                // A static has a unique address, by which handles are compared.
                #[allow(clippy::needless_update, reason = "a declaration may state every field")]
                static INFO: $crate::TypeInfo = $crate::TypeInfo {
                    decl: $crate::define_params!(@decl $name $doc [$($param)*] { $($skey: $svalue,)* }),
                    $($key: $value,)*
                    ..$crate::TypeInfo::DEFAULT
                };
                &INFO
            };

            fn wrap(ty: $crate::Type) -> Self {
                $Name(ty)
            }
        }

        #[allow(dead_code, clippy::too_many_arguments, reason = "made for every type alike")]
        impl $Name {
            /// The constraint that a type is one of this declaration.
            $vis const TYPE: $crate::TypeConstraint = $crate::TypeConstraint {
                summary: $summary,
                check: |ctx, ty| <$Name as $crate::TypeDecl>::cast(ctx, ty).is_some(),
                only: None,
            };

            /// Returns the parameters.
            $vis fn params(self, ctx: &$crate::Context) -> $crate::ParamArgs<'_> {
                ctx.type_params(self.0).expect("a type of this declaration")
            }
        }

        $crate::define_params!(@accessors $vis $Name [$($param)*]);
        $crate::define_params!(@builder $vis $Name [$($param)*] get(declared_type) ());
    };
}

/// Expands the normalized form that `#[attr]` emits. Internal.
#[doc(hidden)]
#[macro_export]
macro_rules! define_attr {
    (
        { #[doc = $docattr:literal] $vis:vis $Name:ident $name:literal $summary:literal $doc:literal }
        params { $($param:tt)* }
        shared { $($skey:ident: $svalue:expr,)* }
        own { $($key:ident: $value:expr,)* }
    ) => {
        #[doc = $docattr]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $vis struct $Name(pub $crate::Attr);

        impl $crate::AttrDecl for $Name {
            const INFO: &'static $crate::AttrInfo = {
                // A static has a unique address, by which handles are compared.
                #[allow(clippy::needless_update, reason = "a declaration may state every field")]
                static INFO: $crate::AttrInfo = $crate::AttrInfo {
                    decl: $crate::define_params!(@decl $name $doc [$($param)*] { $($skey: $svalue,)* }),
                    $($key: $value,)*
                    ..$crate::AttrInfo::DEFAULT
                };
                &INFO
            };

            fn wrap(attr: $crate::Attr) -> Self {
                $Name(attr)
            }
        }

        #[allow(dead_code, clippy::too_many_arguments, reason = "made for every attribute alike")]
        impl $Name {
            /// The constraint that an attribute is one of this declaration. Formats of ops omit its name.
            $vis const KIND: $crate::AttrKind = $crate::AttrKind {
                summary: $summary,
                check: |ctx, attr| <$Name as $crate::AttrDecl>::cast(ctx, attr).is_some(),
                text: $crate::AttrText::Declared($name),
            };

            /// Returns the parameters.
            $vis fn params(self, ctx: &$crate::Context) -> $crate::ParamArgs<'_> {
                ctx.attr_params(self.0).expect("an attribute of this declaration")
            }
        }

        $crate::define_params!(@accessors $vis $Name [$($param)*]);
        $crate::define_params!(@builder $vis $Name [$($param)*] get(declared_attr) ());
        $crate::define_params!(@builder $vis $Name [$($param)*] get_typed(declared_typed_attr) (of_type: $crate::Type));
    };
}

/// Expands what types and attributes have in common. Internal.
#[doc(hidden)]
#[macro_export]
macro_rules! define_params {
    (
        @decl $name:literal $doc:literal
        [$(($pname:ident $ptext:literal $parity:ident $pdoc:literal ($pkind:expr) ($pdefault:expr)))*]
        { $($key:ident: $value:expr,)* }
    ) => {
        $crate::Parametric {
            name: $name,
            doc: $doc,
            declared_at: Some($crate::declarations::Place { file: file!(), line: line!() }),
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
