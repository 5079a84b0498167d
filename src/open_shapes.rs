//! Open extents of parameters.

use gradus_ir::eval::Datum;
use gradus_ir::{Context, DYNAMIC, Type};
use gradus_passes::refine_shapes::ParameterShape;
use gradus_targets::Signature;

/// Returns the shapes of arguments whose parameters have open extents, with the declared extents where those are not open.
pub fn shapes_of(ctx: &Context, signature: &Signature, args: &[Datum]) -> Vec<ParameterShape> {
    let shape = |((name, ty), arg): (&(String, Type), &Datum)| {
        let (declared, Datum::Tensor(tensor)) = (ctx.shape(*ty)?, arg) else { return None };
        let is_open = declared.contains(&DYNAMIC) && declared.len() == tensor.rank();
        let extents = declared.iter().zip(tensor.shape());
        let extents = extents.map(|(&declared, &extent)| if declared == DYNAMIC { extent as i64 } else { declared });
        is_open.then(|| ParameterShape { name: name.clone(), extents: extents.collect() })
    };
    signature.inputs.iter().zip(args).filter_map(shape).collect()
}

/// Whether a parameter of a function has open extents.
#[cfg(feature = "cpu")]
pub fn has_open_parameters(ctx: &Context, signature: &Signature) -> bool {
    signature.inputs.iter().any(|(_, ty)| ctx.shape(*ty).is_some_and(|shape| shape.contains(&DYNAMIC)))
}
