// RUN: gradus opt %s --canonicalize=region-simplify=aggressive | FileCheck %s

// Arguments of blocks are registers, also those that are always the same value.
// CHECK: ^bb1({{.*}}: !x64.gpr<rdi>, {{.*}}: !x64.gpr<rsi>, {{.*}}: !x64.gpr<rdx>, {{.*}}: !x64.gpr<rcx>, {{.*}}: !x64.gpr<r8>, {{.*}}: !x64.mask<1>):
x64.func @scaled_sum {
^bb0(%b: !x64.gpr<rdi>, %c: !x64.gpr<rsi>, %pool: !x64.gpr<rdx>, %start: !x64.gpr<rcx>, %end: !x64.gpr<r8>, %bits: !x64.gpr<r9>):
  %k = x64.kmovw %bits : (!x64.gpr<r9>) -> !x64.mask<1>
  x64.jmp ^loop(%b, %c, %pool, %start, %end, %k : !x64.gpr<rdi>, !x64.gpr<rsi>, !x64.gpr<rdx>, !x64.gpr<rcx>, !x64.gpr<r8>, !x64.mask<1>)
^loop(%b0: !x64.gpr<rdi>, %c0: !x64.gpr<rsi>, %pool0: !x64.gpr<rdx>, %i: !x64.gpr<rcx>, %n: !x64.gpr<r8>, %k0: !x64.mask<1>):
  %x = x64.vmovups [%b0] index %i mask %k0 : (!x64.gpr<rdi>, !x64.gpr<rcx>, !x64.mask<1>) -> !x64.zmm<30>
  %y = x64.vmovups [%b0] index %i offset 400 mask %k0 : (!x64.gpr<rdi>, !x64.gpr<rcx>, !x64.mask<1>) -> !x64.zmm<31>
  %s = x64.vfmadd231ps %x, %y [%pool0] offset 4 broadcast : (!x64.zmm<30>, !x64.zmm<31>, !x64.gpr<rdx>) -> !x64.zmm<30>
  x64.vmovups_store %s [%c0] index %i mask %k0 : (!x64.zmm<30>, !x64.gpr<rsi>, !x64.gpr<rcx>, !x64.mask<1>) -> ()
  %j = x64.add_imm %i imm 64 : (!x64.gpr<rcx>) -> !x64.gpr<rcx>
  %f = x64.cmp %j, %n : (!x64.gpr<rcx>, !x64.gpr<r8>) -> !x64.flags
  x64.jb %f, ^loop(%b0, %c0, %pool0, %j, %n, %k0 : !x64.gpr<rdi>, !x64.gpr<rsi>, !x64.gpr<rdx>, !x64.gpr<rcx>, !x64.gpr<r8>, !x64.mask<1>), ^end
^end:
  x64.vzeroupper : () -> ()
  x64.ret
}
