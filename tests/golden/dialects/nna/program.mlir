// RUN: gradus opt %s

// All instruction forms.
nna.program @forms product [1, 1, 1] scalar kernel_outer resident 1 machine [8, 2, 2, 65536, 4, 2, 4, 1, 1, 1, 4, 4, 2, 9, 8] {
  nna.nncfg stride, 2
  nna.nncfg jump, 16
  nna.nncfg mask, 511
  nna.nncfg zero, -3
  nna.nnsync config
  nna.li r1, 0
  nna.addi r2, r1, 64
  nna.lb r3, r1, 0
  nna.lw r4, r2, 0
  nna.madd r4, r3, r3
  nna.sw r4, r2, 4
  nna.la v0, all, r1, 0
  nna.la v1, lo, r1, 0
  nna.la v1, hi, r1, 32
  nna.ls v2, r1, 0
  nna.and v3, v2, v0
  nna.add v4, v3, v0
  nna.rq v5, v4, v0, q2
  nna.sa v4, all, r2, 0
  nna.nnptr fram1, 0
  nna.nndwf fram1, v1
  nna.nnptr wram0, 64
  nna.nndww wram0, v0
  nna.nnsync fram1_wram0_engine
  nna.nnmacg fram1, wram0, block0, rewind
  nna.nnsync engine
  nna.nnsync none
  nna.nndrdocb v6, block0, pixel7, hi
  nna.djnz r3, -1
  nna.halt
}

// A product of one element: memory has `a` at 0, `b` at 64, and the sum at 128.
nna.program @one product [1, 1, 1] scalar kernel_outer resident 1 initial machine [4, 1, 1, 65536, 4, 2, 4, 1, 1, 1, 4, 4, 2, 9, 8] {
  nna.li r1, 0
  nna.lb r2, r1, 0
  nna.lb r3, r1, 64
  nna.lw r4, r1, 128
  nna.madd r4, r2, r3
  nna.sw r4, r1, 128
  nna.halt
}

func.func @calls(%a: tensor<1x1xui8>, %b: tensor<1x1xi8>, %z: tensor<ui8>, %c: tensor<1xi32>) -> tensor<1x1xi32> {
  %0 = nna.call @one %a, %b a_zero %z bias %c : (tensor<1x1xui8>, tensor<1x1xi8>, tensor<ui8>, tensor<1xi32>) -> tensor<1x1xi32>
  return %0 : tensor<1x1xi32>
}
