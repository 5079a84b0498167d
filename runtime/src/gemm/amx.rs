//! Tile registers of x86 (AMX): detection, configuration, and products of tiles of 16 rows of 64 bytes.
//!
//! Intel, "Architecture Instruction Set Extensions Programming Reference", chapter 3. A tile of the left factor has 16 rows of
//! 64 bytes of summands; one of the right factor has 16 rows, each with four bytes of summands of 16 columns. The product of
//! two tiles has 16 rows of 16 accumulators of 32 bits.

use super::tile_rows::{TILE_BYTES, TILE_ROWS, TileProduct, TileSource};
use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count};
use std::sync::OnceLock;

/// Bits of `CPUID.(7, 0).EDX`.
const AMX_BF16: u32 = 1 << 22;
const AMX_TILE: u32 = 1 << 24;
const AMX_INT8: u32 = 1 << 25;

/// Whether this process may multiply tiles of 8-bit integers.
pub(super) fn has_int8() -> bool {
    features() & AMX_INT8 != 0
}

/// Whether this process may multiply tiles of bf16.
pub(super) fn has_bf16() -> bool {
    features() & AMX_BF16 != 0
}

/// Returns the features with tile registers, which are usable: the machine has them, the operating system saves their state,
/// and it has granted them to the process. 0 otherwise.
fn features() -> u32 {
    static FEATURES: OnceLock<u32> = OnceLock::new();
    *FEATURES.get_or_init(|| {
        /// OSXSAVE in `CPUID.1.ECX`.
        const OSXSAVE: u32 = 1 << 27;
        /// The states XTILECFG and XTILEDATA in XCR0.
        const STATES: u64 = 0b11 << 17;
        if __cpuid(0).eax < 7 || __cpuid(1).ecx & OSXSAVE == 0 {
            return 0;
        }
        let features = __cpuid_count(7, 0).edx;
        // SAFETY: OSXSAVE says that the instruction exists.
        let saved = unsafe { xcr0() };
        let is_usable = features & AMX_TILE != 0 && saved & STATES == STATES && request_permission();
        if is_usable { features } else { 0 }
    })
}

/// Returns the extended control register 0: the states that the operating system saves.
///
/// # Safety
/// The machine has `xgetbv`.
unsafe fn xcr0() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: guaranteed by the caller; the instruction only writes these registers.
    unsafe {
        asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags));
    }
    u64::from(high) << 32 | u64::from(low)
}

/// Asks the operating system to let all threads of the process use tile data; Linux grants it on request only.
#[cfg(target_os = "linux")]
fn request_permission() -> bool {
    const ARCH_PRCTL: i64 = 158;
    const ARCH_REQ_XCOMP_PERM: u64 = 0x1023;
    const XTILEDATA: u64 = 18;
    let result: i64;
    // SAFETY: the system call changes the permissions of the process only, and clobbers rcx and r11.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL => result,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") XTILEDATA,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack)
        );
    }
    result == 0
}

/// Other systems grant tile data in ways that are not known here.
#[cfg(not(target_os = "linux"))]
fn request_permission() -> bool {
    false
}

/// The tile registers of this thread, configured as eight tiles of 16 rows of 64 bytes; released when dropped.
pub(super) struct Configured(());

impl Configured {
    /// Configures the tile registers.
    ///
    /// # Safety
    /// [`has_int8`] or [`has_bf16`].
    pub(super) unsafe fn new() -> Configured {
        /// Palette 1; bytes per row of each register from byte 16 on, numbers of rows from byte 48 on.
        #[repr(align(64))]
        struct Configuration([u8; 64]);
        let mut of = Configuration([0; 64]);
        of.0[0] = 1;
        for tile in 0..8 {
            (of.0[16 + 2 * tile], of.0[48 + tile]) = (64, 16);
        }
        // SAFETY: the caller guarantees the instruction, which reads 64 bytes.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const of, options(readonly, nostack, preserves_flags)) };
        Configured(())
    }
}

impl Drop for Configured {
    fn drop(&mut self) {
        // SAFETY: the instruction exists, as `new` has used its like.
        unsafe { asm!("tilerelease", options(nomem, nostack, preserves_flags)) };
    }
}

/// Defines a function that multiplies tiles: the strips and vectors of columns, and the instructions that load accumulators,
/// add the products of a step, and store accumulators. `{width}` is the size of a row of the panel and of accumulators in bytes.
macro_rules! tile_product {
    ($name:ident, $op:literal, $width:literal, [$($first:literal)+], [$($load:literal)+], [$($dots:literal)+], [$($last:literal)+]) => {
        /// Multiplies tiles, and adds the products to the initial accumulators.
        ///
        /// # Safety
        /// The machine has the instructions and this thread's tile registers are [`Configured`]. All tiles of the product exist,
        /// and the accumulators are writable.
        pub(in crate::gemm) unsafe fn $name(of: &TileProduct) {
            // SAFETY: the caller guarantees the memory: each step reads 16 rows of 64 bytes of each tile. Other registers than
            // those given are not changed.
            unsafe {
                asm!(
                    $($first,)+
                    "test {steps}, {steps}",
                    "jz 3f",
                    "2:",
                    $($load,)+
                    $(concat!($op, " ", $dots),)+
                    // The right factor is read in order, also from one panel to the next.
                    "prefetcht1 [{b} + 16384]",
                    "prefetcht1 [{b} + 16384 + 128]",
                    "prefetcht1 [{b} + 16384 + 256]",
                    "prefetcht1 [{b} + 16384 + 384]",
                    "prefetcht1 [{b} + 16384 + 512]",
                    "prefetcht1 [{b} + 16384 + 640]",
                    "prefetcht1 [{b} + 16384 + 768]",
                    "prefetcht1 [{b} + 16384 + 896]",
                    concat!("prefetcht1 [{b} + 16384 + ", $width, " * 8]"),
                    concat!("prefetcht1 [{b} + 16384 + ", $width, " * 10]"),
                    concat!("prefetcht1 [{b} + 16384 + ", $width, " * 12]"),
                    concat!("prefetcht1 [{b} + 16384 + ", $width, " * 14]"),
                    concat!("add {b}, 16 * ", $width),
                    "dec {steps}",
                    "jnz 2b",
                    "3:",
                    $($last,)+
                    first = inout(reg) of.strips[0] => _,
                    second = inout(reg) of.strips[1] => _,
                    b = inout(reg) of.b => _,
                    steps = inout(reg) of.steps => _,
                    sums = in(reg) of.sums,
                    // Of the initial accumulators, then of tiles of the left factor.
                    at = inout(reg) of.initial => _,
                    stride = inout(reg) of.initial_stride => _,
                    // Of the initial accumulators of the second strip.
                    other = in(reg) of.initial.wrapping_add(TILE_ROWS * of.initial_stride),
                    width = in(reg) $width as usize,
                    out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                    out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                    options(nostack)
                );
            }
        }
    };
}

/// Defines the functions of an instruction, by strips and vectors of columns.
macro_rules! tile_products {
    ($op:literal, [$one_one:ident, $one_two:ident, $two_one:ident, $two_two:ident]) => {
        tile_product!($one_one, $op, 64,
            ["tileloadd tmm0, [{at} + {stride}]" "/* {other} */"],
            ["mov {at}, [{first}]" "mov {stride}, [{first} + 8]" "tileloadd tmm4, [{at} + {stride}]" "add {first}, 16"
             "tileloadd tmm6, [{b} + {width}]" "/* {second} */"],
            ["tmm0, tmm4, tmm6"],
            ["tilestored [{sums} + {width}], tmm0"]);
        tile_product!($one_two, $op, 128,
            ["tileloadd tmm0, [{at} + {stride}]" "tileloadd tmm1, [{at} + {stride} + 64]" "/* {other} */"],
            ["mov {at}, [{first}]" "mov {stride}, [{first} + 8]" "tileloadd tmm4, [{at} + {stride}]" "add {first}, 16"
             "tileloadd tmm6, [{b} + {width}]" "tileloadd tmm7, [{b} + {width} + 64]" "/* {second} */"],
            ["tmm0, tmm4, tmm6" "tmm1, tmm4, tmm7"],
            ["tilestored [{sums} + {width}], tmm0" "tilestored [{sums} + {width} + 64], tmm1"]);
        tile_product!($two_one, $op, 64,
            ["tileloadd tmm0, [{at} + {stride}]" "tileloadd tmm2, [{other} + {stride}]"],
            ["mov {at}, [{first}]" "mov {stride}, [{first} + 8]" "tileloadd tmm4, [{at} + {stride}]" "add {first}, 16"
             "tileloadd tmm6, [{b} + {width}]"
             "mov {at}, [{second}]" "mov {stride}, [{second} + 8]" "tileloadd tmm5, [{at} + {stride}]" "add {second}, 16"],
            ["tmm0, tmm4, tmm6" "tmm2, tmm5, tmm6"],
            ["tilestored [{sums} + {width}], tmm0" "tilestored [{sums} + {width} + 16 * 64], tmm2"]);
        tile_product!($two_two, $op, 128,
            ["tileloadd tmm0, [{at} + {stride}]" "tileloadd tmm1, [{at} + {stride} + 64]"
             "tileloadd tmm2, [{other} + {stride}]" "tileloadd tmm3, [{other} + {stride} + 64]"],
            ["mov {at}, [{first}]" "mov {stride}, [{first} + 8]" "tileloadd tmm4, [{at} + {stride}]" "add {first}, 16"
             "tileloadd tmm6, [{b} + {width}]" "tileloadd tmm7, [{b} + {width} + 64]"
             "mov {at}, [{second}]" "mov {stride}, [{second} + 8]" "tileloadd tmm5, [{at} + {stride}]" "add {second}, 16"],
            ["tmm0, tmm4, tmm6" "tmm1, tmm4, tmm7" "tmm2, tmm5, tmm6" "tmm3, tmm5, tmm7"],
            ["tilestored [{sums} + {width}], tmm0" "tilestored [{sums} + {width} + 64], tmm1"
             "tilestored [{sums} + {width} + 16 * 128], tmm2" "tilestored [{sums} + {width} + 16 * 128 + 64], tmm3"]);
    };
}

tile_products!("tdpbusd", [unsigned_1_1, unsigned_1_2, unsigned_2_1, unsigned_2_2]);
tile_products!("tdpbssd", [signed_1_1, signed_1_2, signed_2_1, signed_2_2]);
tile_products!("tdpbf16ps", [bf16_1_1, bf16_1_2, bf16_2_1, bf16_2_2]);

const _: () = assert!(TILE_BYTES == 16 * 64 && size_of::<TileSource>() == 16);
