func.func private @square(!poly.rng<17, 4>)
func.func private @cube(!poly.ring<1, 4>)
