//! Verified code on operands beside guard pages; mutants of it.

#![allow(unsafe_code)]
#![cfg(unix)]

use gradus_dialects::x64::{Abi, Inst, Instruction, Mem, Rm, Width, encode, ops};
use gradus_ir::random::Random;
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

    fn floats(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(self.bytes())
    }
}

/// A random product with a sparse matrix of `rows` rows, and its code: one group of rows, one chunk.
struct Case {
    abi: Abi,
    /// Row, column and value of the nonzeros, by columns.
    nonzeros: Vec<(usize, usize, f32)>,
    rows: usize,
    columns: usize,
    code: Vec<u8>,
}

impl Case {
    fn draw(random: &mut Random) -> Case {
        let width = random.pick(&[Width::Zmm, Width::Ymm]);
        let panel = width.bytes() as u64;
        let [rows, depth, columns] = [6, 12, 70].map(|most| 1 + random.below(most) as usize);
        let columns = if width == Width::Ymm { columns.max(8) } else { columns };
        let mut nonzeros = Vec::new();
        for k in 0..depth {
            nonzeros.extend((0..rows).filter(|_| random.percent(30)).map(|r| (r, k)));
        }
        let nonzeros: Vec<_> = nonzeros.into_iter().map(|(r, k)| (r, k, random.below(9) as f32 - 4.0)).collect();
        let row = 4 * columns as u64;
        let abi = Abi {
            element: 4,
            pool: 4 * nonzeros.len().max(1) as u64,
            input: depth as u64 * row,
            output: rows as u64 * row,
            residual: 0,
            row,
            panel,
            tile: panel * (1 + random.below(3)),
            masked: width == Width::Zmm && (row < panel || random.percent(80)),
        };
        let mut case = Case { abi, nonzeros, rows, columns, code: Vec::new() };
        case.generate(width);
        case
    }

    fn generate(&mut self, width: Width) {
        let (mut code, row) = (Vec::new(), self.abi.row as i32);
        let scalar = |code: &mut Vec<u8>, what, reg, rm, imm| encode(&Inst::scalar(what, reg, rm, imm), code);
        let mask = u8::from(self.abi.masked);
        let vector = |code: &mut Vec<u8>, what: &'static Instruction, reg, src, rm, mask| {
            encode(&Inst::vector(what, width, reg, src, rm).masked(mask), code);
        };
        if self.abi.masked {
            scalar(&mut code, &ops::KMOVW, 1, Rm::Reg(9), 0);
        }
        scalar(&mut code, &ops::MOV, 0, Rm::Reg(1), 0);
        let head = code.len();
        for r in 0..self.rows as u8 {
            vector(&mut code, &ops::VXORPS, r, r, Rm::Reg(r), 0);
        }
        for (i, &(r, k, _)) in self.nonzeros.iter().enumerate() {
            let b = Mem::at(7, k as i32 * row).indexed(0);
            vector(&mut code, &ops::VMOVUPS, 14, 0, Rm::Mem(b), mask);
            vector(&mut code, &ops::VBROADCASTSS, 15, 0, Rm::Mem(Mem::at(2, 4 * i as i32)), 0);
            vector(&mut code, &ops::VFMADD231PS, r as u8, 14, Rm::Reg(15), 0);
        }
        for r in 0..self.rows {
            let c = Mem::at(6, r as i32 * row).indexed(0);
            vector(&mut code, &ops::VMOVUPS_STORE, r as u8, 0, Rm::Mem(c), mask);
        }
        scalar(&mut code, &ops::ADD_IMM, 0, Rm::Reg(0), self.abi.panel as i32);
        scalar(&mut code, &ops::CMP, 0, Rm::Reg(8), 0);
        let back = head as i32 - (code.len() as i32 + 6);
        scalar(&mut code, &ops::JB, 0, Rm::Reg(0), back);
        scalar(&mut code, &ops::VZEROUPPER, 0, Rm::Reg(0), 0);
        scalar(&mut code, &ops::RET, 0, Rm::Reg(0), 0);
        self.code = code;
    }

    /// Runs code on operands beside guard pages. Returns the result.
    fn run(&self, code: &Code, workers: &Workers, random: &mut Random) -> Vec<f32> {
        let sizes = [self.abi.pool, self.abi.input, self.abi.output];
        let [mut pool, mut b, mut out] = sizes.map(|size| Guarded::new(size as usize, random.percent(50)));
        for (to, (_, _, value)) in pool.floats().iter_mut().zip(&self.nonzeros) {
            *to = *value;
        }
        b.floats().iter_mut().zip(0..).for_each(|(x, i)| *x = (i % 13) as f32 - 6.0);
        code.run(workers, &[pool.bytes(), b.bytes()], out.bytes()).expect("operands have their sizes");
        out.floats().to_vec()
    }

    fn expected(&self) -> Vec<f32> {
        let mut sums = vec![0.0; self.rows * self.columns];
        for &(r, k, value) in &self.nonzeros {
            for j in 0..self.columns {
                sums[r * self.columns + j] += value * (((k * self.columns + j) % 13) as f32 - 6.0);
            }
        }
        sums
    }
}

#[test]
fn verified_code_computes_and_stays_inside() {
    let mut random = Random::of("code");
    let workers = [1, 2].map(|threads| Workers::new(threads).expect("there are threads"));
    let mut runs = 0;
    for _ in 0..500 {
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

/// Mutants with a changed bit or byte. Those that the verifier accepts run beside guard pages: an access outside would end
/// the test by a signal.
#[test]
fn accepted_mutants_stay_inside() {
    let (mut random, workers) = (Random::of("mutants"), Workers::default());
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..1000 {
        let case = Case::draw(&mut random);
        for _ in 0..10 {
            let mut mutant = case.code.clone();
            let at = random.below(mutant.len() as u64) as usize;
            mutant[at] = if random.percent(50) { mutant[at] ^ 1 << random.below(8) } else { random.below(256) as u8 };
            match verify(&mutant, &case.abi) {
                Ok(features) if features.are_supported() => {
                    let code = Code::load(&mutant, case.abi).expect("it is verified");
                    case.run(&code, &workers, &mut random);
                    accepted += 1;
                }
                Ok(_) => {}
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > 2000, "{accepted} accepted, {refused} refused");
}

/// Each rule refuses code that breaks it alone.
#[test]
fn each_rule_is_enforced() {
    let abi =
        Abi { element: 4, pool: 64, input: 256, output: 256, residual: 0, row: 64, panel: 64, tile: 64, masked: false };
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
    for (rule, code) in cases {
        let mut bytes = Vec::new();
        code.iter().for_each(|inst| encode(inst, &mut bytes));
        let why = verify(&bytes, &abi).map_or_else(|(_, why)| why, |_| String::new());
        assert!(why.starts_with(rule) && why.is_empty() == rule.is_empty(), "{rule}: {why}");
    }
}
