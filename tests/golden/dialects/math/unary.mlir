// RUN: gradus opt %s

func.func @absf(%a: f32) -> f32 {
  %0 = math.absf %a : f32
  return %0 : f32
}
func.func @acos(%a: f64) -> f64 {
  %0 = math.acos %a : f64
  return %0 : f64
}
func.func @acosh(%a: f16) -> f16 {
  %0 = math.acosh %a : f16
  return %0 : f16
}
func.func @asin(%a: bf16) -> bf16 {
  %0 = math.asin %a : bf16
  return %0 : bf16
}
func.func @asinh(%a: f32) -> f32 {
  %0 = math.asinh %a : f32
  return %0 : f32
}
func.func @atan(%a: f64) -> f64 {
  %0 = math.atan %a : f64
  return %0 : f64
}
func.func @atanh(%a: f16) -> f16 {
  %0 = math.atanh %a : f16
  return %0 : f16
}
func.func @cbrt(%a: bf16) -> bf16 {
  %0 = math.cbrt %a : bf16
  return %0 : bf16
}
func.func @ceil(%a: f64) -> f64 {
  %0 = math.ceil %a : f64
  return %0 : f64
}
func.func @cos(%a: f32) -> f32 {
  %0 = math.cos %a : f32
  return %0 : f32
}
func.func @cosh(%a: f64) -> f64 {
  %0 = math.cosh %a : f64
  return %0 : f64
}
func.func @erf(%a: f32) -> f32 {
  %0 = math.erf %a : f32
  return %0 : f32
}
func.func @erfc(%a: f64) -> f64 {
  %0 = math.erfc %a : f64
  return %0 : f64
}
func.func @exp(%a: f32) -> f32 {
  %0 = math.exp %a : f32
  return %0 : f32
}
func.func @exp2(%a: f64) -> f64 {
  %0 = math.exp2 %a : f64
  return %0 : f64
}
func.func @expm1(%a: f32) -> f32 {
  %0 = math.expm1 %a : f32
  return %0 : f32
}
func.func @floor(%a: f64) -> f64 {
  %0 = math.floor %a : f64
  return %0 : f64
}
func.func @log(%a: f32) -> f32 {
  %0 = math.log %a : f32
  return %0 : f32
}
func.func @log10(%a: f64) -> f64 {
  %0 = math.log10 %a : f64
  return %0 : f64
}
func.func @log1p(%a: f32) -> f32 {
  %0 = math.log1p %a : f32
  return %0 : f32
}
func.func @log2(%a: f64) -> f64 {
  %0 = math.log2 %a : f64
  return %0 : f64
}
func.func @round(%a: f32) -> f32 {
  %0 = math.round %a : f32
  return %0 : f32
}
func.func @roundeven(%a: f64) -> f64 {
  %0 = math.roundeven %a : f64
  return %0 : f64
}
func.func @rsqrt(%a: f32) -> f32 {
  %0 = math.rsqrt %a : f32
  return %0 : f32
}
func.func @sin(%a: f64) -> f64 {
  %0 = math.sin %a : f64
  return %0 : f64
}
func.func @sinh(%a: f32) -> f32 {
  %0 = math.sinh %a : f32
  return %0 : f32
}
func.func @sqrt(%a: f64) -> f64 {
  %0 = math.sqrt %a : f64
  return %0 : f64
}
func.func @tan(%a: f32) -> f32 {
  %0 = math.tan %a : f32
  return %0 : f32
}
func.func @tanh(%a: f64) -> f64 {
  %0 = math.tanh %a : f64
  return %0 : f64
}
func.func @trunc(%a: f32) -> f32 {
  %0 = math.trunc %a : f32
  return %0 : f32
}
