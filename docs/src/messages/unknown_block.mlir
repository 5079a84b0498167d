func.func @f(%c: i1) {
  cf.cond_br %c, ^then, ^esle
^then:
  cf.br ^else
^else:
  return
}
