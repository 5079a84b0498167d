//! Verified code on operands beside guard pages; mutants of it.

#![allow(unsafe_code)]
#![cfg(unix)]

use gradus_ir::random::Random;
use gradus_machines::x64::{Abi, Inst, Instruction, Mem, Rm, Width, decode, decode_all, encode, instructions, ops};
use gradus_runtime::code::{Code, verify};
use gradus_runtime::workers::Workers;
use memmap2::MmapMut;

const PAGE: usize = 4096;

/// Bytes at the start or end of accessible pages, between pages that no access may touch.
struct Guarded {
    map: MmapMut,
    first: usize,
    len: usize,
}

impl Guarded {
    fn new(len: usize, is_at_end: bool) -> Guarded {
        let inner = len.next_multiple_of(PAGE);
        let mut map = MmapMut::map_anon(inner + 2 * PAGE).expect("there is memory");
        for guard in [0, PAGE + inner] {
            // SAFETY: the page is part of the map, and is not accessed through it until both are dropped.
            let result = unsafe { libc::mprotect(map.as_mut_ptr().add(guard).cast(), PAGE, libc::PROT_NONE) };
            assert_eq!(result, 0, "pages can be protected");
        }
        Guarded { map, first: if is_at_end { PAGE + inner - len } else { PAGE }, len }
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the bytes are between the guard pages.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().add(self.first), self.len) }
    }
}

/// The instructions on elements of a type.
struct Instructions {
    element: usize,
    load: &'static Instruction,
    store: &'static Instruction,
    broadcast: &'static Instruction,
    add: &'static Instruction,
    fma: &'static Instruction,
}

const F32: Instructions = Instructions {
    element: 4,
    load: &ops::VMOVUPS,
    store: &ops::VMOVUPS_STORE,
    broadcast: &ops::VBROADCASTSS,
    add: &ops::VADDPS,
    fma: &ops::VFMADD231PS,
};

const F64: Instructions = Instructions {
    element: 8,
    load: &ops::VMOVUPD,
    store: &ops::VMOVUPD_STORE,
    broadcast: &ops::VBROADCASTSD,
    add: &ops::VADDPD,
    fma: &ops::VFMADD231PD,
};

/// Bounds of the clamp, at the start of the pool.
const BOUNDS: [f64; 2] = [-20.0, 30.0];

/// A random product with a sparse matrix of `rows` rows, and its code: one group of rows, one chunk.
struct Case {
    abi: Abi,
    /// Row, column and value of the nonzeros, by columns.
    nonzeros: Vec<(usize, usize, f64)>,
    rows: usize,
    /// Columns of all strips, and elements of a row of the dense operand.
    columns: usize,
    pitch: usize,
    is_double: bool,
    /// Whether results are clamped, only of f32.
    is_clamped: bool,
    /// Whether code is prefetched.
    prefetches: bool,
    code: Vec<u8>,
}

impl Case {
    fn draw(random: &mut Random) -> Case {
        let is_double = random.percent(40);
        // Numbers of f64 are not broadcast to 128 bits.
        let widths = [Width::Zmm, Width::Ymm, Width::Xmm];
        let width = random.pick(if is_double { &widths[..2] } else { &widths });
        let (panel, element) = (width.bytes() as u64, if is_double { 8 } else { 4 });
        let [rows, depth, columns] = [6, 12, 70].map(|most| 1 + random.below(most) as usize);
        let columns = if width == Width::Zmm { columns } else { columns.max((panel / element) as usize) };
        let mut nonzeros = Vec::new();
        for k in 0..depth {
            nonzeros.extend((0..rows).filter(|_| random.percent(30)).map(|r| (r, k)));
        }
        let nonzeros: Vec<_> = nonzeros.into_iter().map(|(r, k)| (r, k, random.below(9) as f64 - 4.0)).collect();
        let strips = if random.percent(40) { 1 + random.below(4) } else { 1 };
        let apart = random.below(columns as u64 + 8);
        let pitch = columns + (apart * (strips - 1)) as usize;
        let (strip, columns) = (element * columns as u64, columns * strips as usize);
        let bands = if random.percent(50) { strips } else { 1 };
        let output = rows as u64 * strips * strip;
        let abi = Abi {
            element,
            pool: element * (nonzeros.len() + BOUNDS.len()) as u64,
            input: depth as u64 * element * pitch as u64,
            output,
            residual: if random.percent(40) { output } else { 0 },
            row: strips / bands * strip,
            bands,
            strips,
            pitch: element * apart,
            panel,
            tile: panel * (1 + random.below(3)),
            masked: width == Width::Zmm && (strip < panel || random.percent(80)),
        };
        let [is_clamped, prefetches] = [!is_double && random.percent(40), random.percent(40)];
        let mut case =
            Case { abi, nonzeros, rows, columns, pitch, is_double, is_clamped, prefetches, code: Vec::new() };
        case.generate(width);
        case
    }

    fn generate(&mut self, width: Width) {
        let (mut code, f) = (Vec::new(), if self.is_double { F64 } else { F32 });
        let row = (f.element * self.pitch) as i32;
        let scalar = |code: &mut Vec<u8>, what, reg, rm, imm| encode(&Inst::scalar(what, reg, rm, imm), code);
        let mask = u8::from(self.abi.masked);
        let vector = |code: &mut Vec<u8>, what: &'static Instruction, reg, src, rm, mask| {
            encode(&Inst::vector(what, width, reg, src, rm).masked(mask), code);
        };
        if self.abi.masked {
            scalar(&mut code, &ops::KMOVW, 1, Rm::Reg(9), 0);
        }
        if self.prefetches {
            scalar(&mut code, &ops::MOV, 9, Rm::Reg(0), 0);
        }
        scalar(&mut code, &ops::MOV, 0, Rm::Reg(1), 0);
        let head = code.len();
        for r in 0..self.rows as u8 {
            vector(&mut code, &ops::VXORPS, r, r, Rm::Reg(r), 0);
        }
        for (i, &(r, k, _)) in self.nonzeros.iter().enumerate() {
            let b = Mem::at(7, k as i32 * row).indexed(0);
            vector(&mut code, f.load, 14, 0, Rm::Mem(b), mask);
            let value = Mem::at(2, (f.element * (BOUNDS.len() + i)) as i32);
            if width == Width::Zmm && i % 2 == 1 {
                vector(&mut code, f.fma, r as u8, 14, Rm::Mem(value.broadcast()), 0);
            } else {
                vector(&mut code, f.broadcast, 15, 0, Rm::Mem(value), 0);
                vector(&mut code, f.fma, r as u8, 14, Rm::Reg(15), 0);
            }
            if self.prefetches && i % 3 == 0 {
                scalar(&mut code, &ops::PREFETCHT1, 0, Rm::Mem(Mem::at(9, 64 * i as i32 + 4096)), 0);
            }
        }
        self.finish(&mut code, vector, &f, mask);
        scalar(&mut code, &ops::ADD_IMM, 0, Rm::Reg(0), self.abi.panel as i32);
        scalar(&mut code, &ops::CMP, 0, Rm::Reg(8), 0);
        let back = head as i32 - (code.len() as i32 + 6);
        scalar(&mut code, &ops::JB, 0, Rm::Reg(0), back);
        scalar(&mut code, &ops::VZEROUPPER, 0, Rm::Reg(0), 0);
        scalar(&mut code, &ops::RET, 0, Rm::Reg(0), 0);
        self.code = code;
    }

    /// The residual, the clamp and the stores.
    fn finish(
        &self,
        code: &mut Vec<u8>,
        vector: impl Fn(&mut Vec<u8>, &'static Instruction, u8, u8, Rm, u8),
        f: &Instructions,
        mask: u8,
    ) {
        for r in 0..self.rows as u8 {
            let offset = i32::from(r) * self.abi.row as i32;
            if self.abi.residual > 0 {
                vector(code, f.load, 14, 0, Rm::Mem(Mem::at(10, offset).indexed(0)), mask);
                vector(code, f.add, r, r, Rm::Reg(14), 0);
            }
            for (i, what) in [&ops::VMAXPS, &ops::VMINPS].into_iter().enumerate().filter(|_| self.is_clamped) {
                vector(code, f.broadcast, 13, 0, Rm::Mem(Mem::at(2, (f.element * i) as i32)), 0);
                vector(code, what, r, 13, Rm::Reg(r), 0);
            }
            vector(code, f.store, r, 0, Rm::Mem(Mem::at(6, offset).indexed(0)), mask);
        }
    }

    /// Writes numbers as elements.
    fn fill(&self, to: &mut Guarded, values: impl Iterator<Item = f64>) {
        let (element, to) = (self.abi.element as usize, to.bytes());
        for (to, value) in to.chunks_exact_mut(element).zip(values) {
            match self.is_double {
                true => to.copy_from_slice(&value.to_le_bytes()),
                false => to.copy_from_slice(&(value as f32).to_le_bytes()),
            }
        }
    }

    /// Runs code on operands beside guard pages. Returns the result.
    fn run(&self, code: &Code, workers: &Workers, random: &mut Random) -> Vec<f64> {
        let sizes = [self.abi.pool, self.abi.input, self.abi.residual, self.abi.output];
        let [mut pool, mut b, mut residual, mut out] =
            sizes.map(|size| Guarded::new(size as usize, random.percent(50)));
        self.fill(&mut pool, BOUNDS.into_iter().chain(self.nonzeros.iter().map(|one| one.2)));
        self.fill(&mut b, (0..).map(|i| f64::from(i % 13 - 6)));
        self.fill(&mut residual, (0..).map(|i| f64::from(i % 7 - 3)));
        let operands = [&*pool.bytes(), &*b.bytes(), &*residual.bytes()];
        let count = if self.abi.residual > 0 { 3 } else { 2 };
        code.run(workers, &operands[..count], out.bytes()).expect("operands have their sizes");
        let element = self.abi.element as usize;
        let read = |bytes: &[u8]| match self.is_double {
            true => f64::from_le_bytes(bytes.try_into().expect("eight bytes")),
            false => f64::from(f32::from_le_bytes(bytes.try_into().expect("four bytes"))),
        };
        out.bytes().chunks_exact(element).map(read).collect()
    }

    fn expected(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.rows * self.columns];
        let row = (self.abi.row / self.abi.element) as usize;
        for &(r, k, value) in &self.nonzeros {
            let (strip, apart) = (self.columns as u64 / self.abi.strips, self.abi.pitch / self.abi.element);
            for j in 0..self.columns {
                let read = k * self.pitch + (j as u64 / strip * apart + j as u64 % strip) as usize;
                sums[(j / row * self.rows + r) * row + j % row] += value * ((read % 13) as f64 - 6.0);
            }
        }
        for (i, sum) in sums.iter_mut().enumerate() {
            *sum += if self.abi.residual > 0 { (i % 7) as f64 - 3.0 } else { 0.0 };
            *sum = if self.is_clamped { sum.clamp(BOUNDS[0], BOUNDS[1]) } else { *sum };
        }
        sums
    }

    /// Changes an instruction: a displacement, a register, an immediate or the target of a jump, or an operation.
    fn mutant(&self, random: &mut Random) -> Vec<u8> {
        let all = decode_all(&self.code).expect("it was encoded");
        let forms: Vec<_> = instructions().collect();
        loop {
            let (at, mut inst) = random.pick(&all);
            match (random.below(6), &mut inst.rm) {
                (0, Rm::Mem(mem)) => mem.displacement += random.pick(&[-8, -4, 4, 8, 64, -64, 4096]),
                (0, Rm::Reg(_)) => inst.imm = inst.imm.wrapping_add(random.pick(&[-64, -8, -1, 1, 7, 64])),
                (1, Rm::Mem(mem)) => mem.base = random.below(16) as u8,
                (1, Rm::Reg(r)) => *r = random.below(16) as u8,
                (2, Rm::Mem(mem)) => mem.index = Some(random.below(16) as u8).filter(|&r| r != 4),
                (3, _) => inst.reg = random.below(16) as u8,
                (4, _) => inst.mask = random.below(8) as u8,
                _ => inst.what = random.pick(&forms),
            }
            let (mut bytes, mut code) = (Vec::new(), self.code.clone());
            encode(&inst, &mut bytes);
            let end = at + decode(&self.code[at..]).expect("it was encoded").1;
            if at + bytes.len() <= code.len() && bytes != code[at..end] {
                code.splice(at..end, bytes);
                return code;
            }
        }
    }
}

#[test]
fn verified_code_computes_and_stays_inside() {
    let mut random = Random::of("code");
    let workers = [1, 2].map(|threads| Workers::new(threads).expect("there are threads"));
    let mut runs = 0;
    for _ in 0..10_000 {
        let case = Case::draw(&mut random);
        let features = verify(&case.code, &case.abi).unwrap_or_else(|(at, why)| panic!("byte {at}: {why}"));
        if !features.are_supported() {
            continue;
        }
        let code = Code::load(&case.code, case.abi).expect("it is verified");
        for workers in &workers {
            assert_eq!(case.run(&code, workers, &mut random), case.expected());
        }
        runs += 1;
    }
    assert!(runs > 0 || cfg!(not(target_arch = "x86_64")), "no code ran");
}

/// Mutants with a changed bit, byte or instruction. Those that the verifier accepts run beside guard pages: an access outside would
/// end the test by a signal.
#[test]
fn accepted_mutants_stay_inside() {
    let (mut random, workers) = (Random::of("mutants"), Workers::default());
    let (mut accepted, mut refused) = ([0; 2], [0; 2]);
    for _ in 0..1000 {
        let case = Case::draw(&mut random);
        for i in 0..20 {
            let mutant = if i < 10 { damaged(&case.code, &mut random) } else { case.mutant(&mut random) };
            match verify(&mutant, &case.abi) {
                Ok(features) if features.are_supported() => {
                    let code = Code::load(&mutant, case.abi).expect("it is verified");
                    case.run(&code, &workers, &mut random);
                    accepted[i / 10] += 1;
                }
                Ok(_) => {}
                Err(_) => refused[i / 10] += 1,
            }
        }
    }
    assert!(refused.iter().all(|&count| count > 2000), "{accepted:?} accepted, {refused:?} refused");
}

/// Changes a bit or a byte.
fn damaged(code: &[u8], random: &mut Random) -> Vec<u8> {
    let mut mutant = code.to_vec();
    let at = random.below(mutant.len() as u64) as usize;
    mutant[at] = if random.percent(50) { mutant[at] ^ 1 << random.below(8) } else { random.below(256) as u8 };
    mutant
}

/// Each rule refuses code that breaks it alone.
#[test]
fn each_rule_is_enforced() {
    let abi = Abi {
        element: 4,
        pool: 64,
        input: 256,
        output: 256,
        residual: 0,
        row: 64,
        bands: 1,
        strips: 1,
        pitch: 0,
        panel: 64,
        tile: 64,
        masked: false,
    };
    let zmm = |what, mem| Inst::vector(what, Width::Zmm, 0, 0, Rm::Mem(mem));
    let scalar = |what, reg, rm, imm| Inst::scalar(what, reg, rm, imm);
    let ret = scalar(&ops::RET, 0, Rm::Reg(0), 0);
    let index_loop = |step, bound| {
        [
            scalar(&ops::ADD_IMM, 1, Rm::Reg(0), step),
            scalar(&ops::CMP, 1, Rm::Reg(bound), 0),
            scalar(&ops::JB, 0, Rm::Reg(0), -13),
        ]
    };
    let [a, b, c] = index_loop(64, 8);
    let [d, _, _] = index_loop(-64, 8);
    let [_, e, _] = index_loop(64, 1);
    let cases: [(&str, &[Inst]); 14] = [
        ("", &[zmm(&ops::VMOVUPS, Mem::at(7, 192)), ret]),
        ("", &[a, b, c, ret]),
        ("an access outside", &[zmm(&ops::VMOVUPS, Mem::at(7, 196)), ret]),
        ("an access outside", &[zmm(&ops::VMOVUPS, Mem::at(7, -4)), ret]),
        ("an access outside", &[zmm(&ops::VMOVUPS, Mem::at(2, 4)), ret]),
        ("a store to an operand", &[zmm(&ops::VMOVUPS_STORE, Mem::at(7, 0)), ret]),
        ("an access to an unknown", &[zmm(&ops::VMOVUPS, Mem::at(4, 0)), ret]),
        ("an access outside", &[a, zmm(&ops::VMOVUPS, Mem::at(7, 192).indexed(1)), ret]),
        ("a loop whose index does not grow", &[d, b, c, ret]),
        ("a loop whose index does not grow in equal", &[a, e, c, ret]),
        ("a write to a register of the caller", &[scalar(&ops::MOV, 3, Rm::Reg(1), 0), ret]),
        ("the code does not end", &[a]),
        ("code after a return", &[ret, ret]),
        ("a jump that is not the end", &[scalar(&ops::JMP, 0, Rm::Reg(0), 0), ret]),
    ];
    let why = |code: &[Inst], abi: &Abi| {
        let mut bytes = Vec::new();
        code.iter().for_each(|inst| encode(inst, &mut bytes));
        verify(&bytes, abi).map_or_else(|(_, why)| why, |_| String::new())
    };
    for (rule, code) in cases {
        let why = why(code, &abi);
        assert!(why.starts_with(rule) && why.is_empty() == rule.is_empty(), "{rule}: {why}");
    }
    // The last of two strips ends with the operands; a result without rows has no bytes in any.
    let strips = Abi { row: 128, strips: 2, pitch: 192, ..abi };
    for (output, mem, what, rule) in [
        (128, Mem::at(7, 0), &ops::VMOVUPS, ""),
        (128, Mem::at(7, 4), &ops::VMOVUPS, "an access outside"),
        (128, Mem::at(6, 0), &ops::VMOVUPS_STORE, ""),
        (128, Mem::at(6, 4), &ops::VMOVUPS_STORE, "an access outside"),
        (0, Mem::at(6, 0), &ops::VMOVUPS_STORE, "an access outside"),
    ] {
        let why = why(&[zmm(what, mem), ret], &Abi { output, ..strips });
        assert!(why.starts_with(rule) && why.is_empty() == rule.is_empty(), "{output}: {why}");
    }
}
