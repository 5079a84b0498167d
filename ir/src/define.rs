//! The code that `#[op]` generates: a typed handle, its accessors and builder, and the [`OpInfo`](crate::OpInfo) table.

/// Expands the normalized form that `#[op]` emits. Internal.
#[doc(hidden)]
#[macro_export]
macro_rules! define_op {
    (
        { #[doc = $docattr:literal] $vis:vis $Name:ident $name:literal $doc:literal }
        operands { $(($oi:literal $oname:ident $otext:literal $oarity:ident $odoc:literal ($oty:expr)))* }
        results { $(($ri:literal $rname:ident $rtext:literal $rarity:ident $rdoc:literal ($rty:expr)))* }
        attrs { $(($ai:literal $aname:ident $atext:literal $aarity:ident $adoc:literal ($akind:expr) ($adefault:expr)))* }
        regions { $(($gi:literal $gname:ident $gtext:literal $garity:ident $gdoc:literal))* }
        successors { $(($si:literal $sname:ident $stext:literal $sarity:ident $sdoc:literal))* }
        fields { $($key:ident: $value:expr,)* }
    ) => {
        #[doc = $docattr]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis struct $Name(pub $crate::Op);

        impl $crate::OpDecl for $Name {
            const INFO: &'static $crate::OpInfo = {
                // A static has a unique address, by which handles are compared.
                static INFO: $crate::OpInfo = $crate::OpInfo {
                    name: $name,
                    doc: $doc,
                    declared_at: Some($crate::declarations::SourceLine { file: file!(), line: line!() }),
                    operands: &[$($crate::ValueSpec {
                        name: $otext, doc: $odoc, arity: $crate::Arity::$oarity, ty: &$oty,
                    }),*],
                    results: &[$($crate::ValueSpec {
                        name: $rtext, doc: $rdoc, arity: $crate::Arity::$rarity, ty: &$rty,
                    }),*],
                    attrs: &[$($crate::AttrSpec {
                        name: $atext,
                        doc: $adoc,
                        optional: matches!($crate::Arity::$aarity, $crate::Arity::Optional),
                        kind: &$akind,
                        default: $adefault,
                    }),*],
                    regions: &[$($crate::GroupSpec {
                        name: $gtext, doc: $gdoc, arity: $crate::Arity::$garity,
                    }),*],
                    successors: &[$($crate::GroupSpec {
                        name: $stext, doc: $sdoc, arity: $crate::Arity::$sarity,
                    }),*],
                    $($key: $value,)*
                    ..$crate::OpInfo::DEFAULT
                };
                &INFO
            };

            fn wrap(op: $crate::Op) -> Self {
                $Name(op)
            }
        }

        #[allow(dead_code, clippy::too_many_arguments, reason = "made for every op alike")]
        impl $Name {
            $($crate::define_op!(@values $oarity $oname $oi operand_group $odoc);)*
            $($crate::define_op!(@values $rarity $rname $ri result_group $rdoc);)*
            $($crate::define_op!(@attr $aarity $aname $atext $adoc);)*
            $($crate::define_op!(@region $garity $gname $gi $gdoc);)*
            $($crate::define_op!(@successor $sarity $sname $si $sdoc);)*

            /// Creates the op at the builder's insertion point. Empty result types are inferred; regions are created
            /// empty. Panics if inference fails: a caller's bug.
            $vis fn build(
                b: &mut $crate::Builder<'_>,
                loc: $crate::Loc,
                $($oname: $crate::define_op!(@param $oarity $crate::Value),)*
                $($aname: $crate::define_op!(@attr_param $aarity),)*
                $($sname: $crate::define_op!(@param $sarity $crate::Block),)*
                result_types: &[$crate::Type],
            ) -> Self {
                #[allow(unused_imports, reason = "for ops without such groups")]
                use $crate::define::ListArgument as _;
                let mut state = $crate::OpState::new(&b.module.ctx, $name, loc);
                $(state.operand_group(&$oname.group());)*
                $(state.inherent(&b.module.ctx, $atext, $aname.into());)*
                $(state.successors.extend_from_slice(&$sname.group());)*
                state.regions = 0 $(+ $crate::define_op!(@region_count $garity $gi))*;
                state.result_types.extend_from_slice(result_types);
                $Name(b.create(state))
            }
        }
    };

    (@values One $name:ident $i:literal $group:ident $doc:literal) => {
        #[doc = $doc]
        pub fn $name(self, m: &$crate::Module) -> $crate::Value {
            m.$group(self.0, $i)[0]
        }
    };
    (@values Optional $name:ident $i:literal $group:ident $doc:literal) => {
        #[doc = $doc]
        pub fn $name(self, m: &$crate::Module) -> Option<$crate::Value> {
            m.$group(self.0, $i).first().copied()
        }
    };
    (@values Variadic $name:ident $i:literal $group:ident $doc:literal) => {
        #[doc = $doc]
        pub fn $name(self, m: &$crate::Module) -> $crate::ValueList {
            m.$group(self.0, $i)
        }
    };
    (@attr $arity:ident $name:ident $text:literal $doc:literal) => {
        #[doc = $doc]
        pub fn $name(self, m: &$crate::Module) -> Option<$crate::Attr> {
            m.inherent_attr(self.0, $text)
        }
    };
    (@region One $name:ident $i:literal $doc:literal) => {
        #[doc = $doc]
        pub fn $name(self, m: &$crate::Module) -> $crate::Region {
            m.regions(self.0)[$i]
        }
    };
    (@region Variadic $name:ident $i:literal $doc:literal) => {
        #[doc = $doc]
        pub fn $name(self, m: &$crate::Module) -> &[$crate::Region] {
            &m.regions(self.0)[$i..]
        }
    };
    (@successor One $name:ident $i:literal $doc:literal) => {
        #[doc = $doc]
        pub fn $name(self, m: &$crate::Module) -> $crate::Block {
            m.successors(self.0)[$i]
        }
    };
    (@successor Variadic $name:ident $i:literal $doc:literal) => {
        #[doc = $doc]
        pub fn $name(self, m: &$crate::Module) -> &[$crate::Block] {
            &m.successors(self.0)[$i..]
        }
    };
    (@param One $t:ty) => { $t };
    (@param Optional $t:ty) => { Option<$t> };
    (@param Variadic $t:ty) => { &[$t] };
    (@attr_param One) => { $crate::Attr };
    (@attr_param Optional) => { Option<$crate::Attr> };
    (@region_count One $i:literal) => { 1 };
    (@region_count Variadic $i:literal) => { 0 };
}

/// A builder argument that is a list: one, at most one, or any number of keys.
#[doc(hidden)]
pub trait ListArgument<K> {
    /// Returns the keys.
    fn group(&self) -> smallvec::SmallVec<[K; 4]>;
}

macro_rules! group {
    ($($key:ty),*) => { $(
        impl ListArgument<$key> for $key {
            fn group(&self) -> smallvec::SmallVec<[$key; 4]> {
                smallvec::smallvec![*self]
            }
        }
        impl ListArgument<$key> for Option<$key> {
            fn group(&self) -> smallvec::SmallVec<[$key; 4]> {
                self.iter().copied().collect()
            }
        }
        impl ListArgument<$key> for &[$key] {
            fn group(&self) -> smallvec::SmallVec<[$key; 4]> {
                self.iter().copied().collect()
            }
        }
    )* };
}
group!(crate::Value, crate::Block);
