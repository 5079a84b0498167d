//! The instruction forms, a row each.

/// Calls a macro with all instruction forms: doc, variant, op with its name, slot, and operands with their kinds.
///
/// Words, assembler, disassembler and the ops of the dialect follow from these rows. The kinds are those of
/// [`OperandKind`](crate::nna::OperandKind).
#[macro_export]
macro_rules! nna_forms {
    ($with:ident) => {
        $with! {
            /// Loads 64 bytes into a vector register, or 32 bytes into a half of it.
            La LaOp "nna.la" Vector {
                /// Destination.
                dst: VectorPart,
                /// Part of the register.
                part: Part,
                /// Register with the address.
                base: Scalar,
                /// Bytes added to the address.
                offset: Word,
            }
            /// Stores 64 bytes of a vector register, or 32 bytes of a half.
            Sa SaOp "nna.sa" Vector {
                /// Source.
                src: Vector,
                /// Part of the register.
                part: Part,
                /// Register with the address.
                base: Scalar,
                /// Bytes added to the address.
                offset: Word,
            }
            /// Loads a byte into all 64 bytes of a vector register.
            Ls LsOp "nna.ls" Vector {
                /// Destination.
                dst: VectorDef,
                /// Register with the address.
                base: Scalar,
                /// Bytes added to the address.
                offset: Word,
            }
            /// Sum of sixteen 32-bit lanes, modulo 2^32.
            Add AddOp "nna.add" Vector {
                /// Destination.
                dst: VectorDef,
                /// First term.
                lhs: Vector,
                /// Second term.
                rhs: Vector,
            }
            /// Bitwise conjunction.
            And AndOp "nna.and" Vector {
                /// Destination.
                dst: VectorDef,
                /// First operand.
                lhs: Vector,
                /// Second operand.
                rhs: Vector,
            }
            /// Requantizes sixteen 32-bit lanes to bytes in a quarter of the destination: `clamp(round(lane * m * 2^-s) + zero)`,
            /// half to even. A lane of `scale` has `m`, 24 bits, above `s`, 8 bits of which 63 is the largest value.
            Rq RqOp "nna.rq" Vector {
                /// Destination.
                dst: VectorPart,
                /// Lanes.
                src: Vector,
                /// Factors.
                scale: Vector,
                /// Quarter of the destination.
                quarter: Quarter,
            }
            /// Constant.
            Li LiOp "nna.li" Vector {
                /// Destination.
                dst: ScalarDef,
                /// Value.
                value: Word,
            }
            /// Sum with a constant, modulo 2^32.
            Addi AddiOp "nna.addi" Vector {
                /// Destination.
                dst: ScalarDef,
                /// Register.
                lhs: Scalar,
                /// Constant.
                value: Word,
            }
            /// Loads a signed byte.
            Lb LbOp "nna.lb" Vector {
                /// Destination.
                dst: ScalarDef,
                /// Register with the address.
                base: Scalar,
                /// Bytes added to the address.
                offset: Word,
            }
            /// Loads 32 bits.
            Lw LwOp "nna.lw" Vector {
                /// Destination.
                dst: ScalarDef,
                /// Register with the address.
                base: Scalar,
                /// Bytes added to the address.
                offset: Word,
            }
            /// Stores 32 bits.
            Sw SwOp "nna.sw" Vector {
                /// Source.
                src: Scalar,
                /// Register with the address.
                base: Scalar,
                /// Bytes added to the address.
                offset: Word,
            }
            /// Multiply-accumulate of 32 bits: adds the product of two registers.
            Madd MaddOp "nna.madd" Vector {
                /// Sum.
                acc: ScalarUpdate,
                /// First factor.
                lhs: Scalar,
                /// Second factor.
                rhs: Scalar,
            }
            /// Subtracts one, and jumps by a number of instructions from this one unless the result is zero.
            Djnz DjnzOp "nna.djnz" Vector {
                /// Counter.
                counter: ScalarUpdate,
                /// Instructions from this one to the destination.
                distance: Word,
            }
            /// End of the program.
            Halt HaltOp "nna.halt" Vector {
            }
            /// Writes two pixels to a feature RAM at its write pointer, which advances by two pixels and jumps to the next row
            /// after those of the register `jump`.
            Nndwf NndwfOp "nna.nndwf" Engine {
                /// Feature RAM.
                fram: Fram,
                /// Two pixels.
                src: Vector,
            }
            /// Writes 64 bytes to a kernel of the weight RAM at its write pointer, which advances.
            Nndww NndwwOp "nna.nndww" Engine {
                /// Kernel.
                wram: Wram,
                /// Weights of two output channels at one tap.
                src: Vector,
            }
            /// Sets a write pointer.
            Nnptr NnptrOp "nna.nnptr" Engine {
                /// Memory.
                port: Port,
                /// Pixels of a feature RAM, bytes of a kernel.
                position: Word,
            }
            /// Writes a configuration register.
            Nncfg NncfgOp "nna.nncfg" Engine {
                /// Register.
                register: Config,
                /// Value.
                value: Word,
            }
            /// Starts a convolution, which latches `stride` and `mask` and overwrites a result block.
            Nnmacg NnmacgOp "nna.nnmacg" Engine {
                /// Feature RAM.
                fram: Fram,
                /// Kernel.
                wram: Wram,
                /// Result block.
                block: Block,
                /// Whether the write pointer of the feature RAM returns to its first pixel.
                rewind: Flag,
            }
            /// Reads sixteen 32-bit lanes of an output: channels 0 to 15 or 16 to 31.
            Nndrdocb NndrdocbOp "nna.nndrdocb" Engine {
                /// Destination.
                dst: VectorDef,
                /// Result block.
                block: Block,
                /// Output.
                pixel: Pixel,
                /// Channels.
                half: Half,
            }
            /// Waits until writes, or the running convolution, are complete.
            Nnsync NnsyncOp "nna.nnsync" Engine {
                /// Set of events.
                events: Events,
            }
        }
    };
}
