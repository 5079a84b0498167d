"""Prints onnx_operators.tsv: every standard operator of the installed `onnx` package.

Columns: name, the versions of the operator set that changed it, what it is about besides tensors of numbers, and the
attributes of its newest version.
"""
import onnx


def about(schema):
    formals = list(schema.inputs) + list(schema.outputs)
    types = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    allowed = [set(types.get(f.type_str, [f.type_str])) for f in formals]
    mentions = lambda word: any(t.startswith(word) for types in allowed for t in types)
    if schema.deprecated:
        return "replaced"
    kinds = {a.type for a in schema.attributes.values()}
    if onnx.defs.OpSchema.AttrType.GRAPH in kinds:
        return "graphs"
    if schema.name != "Identity" and mentions("optional("):
        return "optional values"
    if schema.name != "Identity" and mentions("seq("):
        return "sequences"
    if onnx.defs.OpSchema.AttrType.STRINGS in kinds or any(types == {"tensor(string)"} for types in allowed):
        return "strings"
    if schema.node_determinism == onnx.defs.OpSchema.NodeDeterminism.NonDeterministic:
        return "random numbers"
    return ""


newest, versions = {}, {}
for schema in onnx.defs.get_all_schemas_with_history():
    if schema.domain != "":
        continue
    versions.setdefault(schema.name, []).append(schema.since_version)
    if schema.name not in newest or newest[schema.name].since_version < schema.since_version:
        newest[schema.name] = schema
print("operator\tversions\tabout\tattributes")
for name in sorted(newest):
    attributes = " ".join(sorted(newest[name].attributes))
    print(name, " ".join(map(str, sorted(versions[name]))), about(newest[name]), attributes, sep="\t")
