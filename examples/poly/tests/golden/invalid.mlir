// RUN: poly opt %s --verify-diagnostics --split-input-file
// expected-error@below {{unknown type `rng` in dialect `poly`; did you mean 'ring'?}}
func.func private @f(!poly.rng<17, 4>)

// -----

// expected-error@below {{the modulus is from 2 to 2147483648}}
func.func private @f(!poly.ring<1, 4>)

// -----

// expected-error@below {{expected ','}}
func.func private @f(!poly.ring<17>)

// -----

// expected-note@below {{prior use here}}
func.func @f(%p: !poly.ring<17, 4>, %q: !poly.ring<17, 5>) {
  // expected-error@below {{use of value '%q' expects different type than prior uses}}
  %0 = poly.add %p, %q : !poly.ring<17, 4>
  return
}

// -----

func.func @f() {
  // expected-error@below {{coefficient 17 is not from 0 to 16}}
  %0 = poly.constant <[1, 17]> : !poly.ring<17, 2>
  return
}

// -----

func.func @f(%p: !poly.ring<17, 4>, %x: !poly.residue<5>) {
  // expected-error@below {{polynomial and point have different moduli}}
  %0 = poly.eval %p at %x : !poly.ring<17, 4>, !poly.residue<5>
  return
}
