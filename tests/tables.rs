//! Files of address tables: another process maps them and computes with its own data, and damaged ones are refused.

use crate::support::{gradus, parse, root, seal};
use gradus::Tool;
use gradus::interp::Interpreter;
use gradus::ir::Tensor;
use gradus::ir::eval::Datum;
use gradus::ir::random::Random;
use gradus::networks::layout::{Addressing, Encoding};
use gradus::runtime::artifact::Artifact;
use gradus::runtime::table_file::{self, TableRecord};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A convolution: extents of the image and filters, and attributes per axis.
struct Case {
    image: &'static [usize],
    filters: &'static [usize],
    group: usize,
    strides: &'static [i64],
    dilations: &'static [i64],
    pads: &'static [i64],
    /// Options of the lowering.
    options: &'static str,
}

const CASES: &[Case] = &[
    Case { options: "", ..IMAGE },
    Case { options: "encoding=running", ..IMAGE },
    Case { options: "encoding=running layout=NCHW", ..IMAGE },
    Case { options: "encoding=running layout=NCHW4c derivation=coordinates", ..IMAGE },
    Case { options: "encoding=running layout=CNHW order=channels-last", ..IMAGE },
    Case { options: "layout=HNC3cW", ..IMAGE },
    Case { options: "layout=NCHW2h3w", ..IMAGE },
    Case { options: "min-run=1", pads: &[1, 2, 0, 1], ..IMAGE },
    Case { options: "min-run=100 encoding=running", pads: &[1, 2, 0, 1], ..IMAGE },
    Case { options: "encoding=running", group: 2, filters: &[4, 3, 2, 3], ..IMAGE },
    Case { options: "layout=NCHW min-run=1", group: 3, filters: &[6, 2, 2, 3], pads: &[0, 1, 1, 0], ..IMAGE },
    Case { options: "encoding=running", ..LINE },
    Case { options: "layout=NCW2w encoding=running", ..LINE },
    Case { options: "encoding=running layout=NCDHW", ..VOLUME },
    Case { options: "min-run=1 layout=NDHCW", pads: &[1, 0, 1, 0, 1, 1], ..VOLUME },
];

const IMAGE: Case = Case {
    image: &[2, 6, 7, 8],
    filters: &[5, 6, 2, 3],
    group: 1,
    strides: &[1, 2],
    dilations: &[2, 1],
    pads: &[0; 4],
    options: "",
};
const LINE: Case =
    Case { image: &[2, 3, 9], filters: &[4, 3, 3], strides: &[2], dilations: &[1], pads: &[0; 2], ..IMAGE };
const VOLUME: Case = Case {
    image: &[1, 2, 4, 5, 4],
    filters: &[3, 2, 2, 3, 2],
    strides: &[1, 1, 2],
    dilations: &[1, 1, 1],
    pads: &[0; 6],
    ..IMAGE
};

impl Case {
    /// Returns the extents of the result.
    fn result(&self) -> Vec<usize> {
        let rank = self.strides.len();
        let output = |i: usize| {
            let reach = (self.filters[2 + i] - 1) * self.dilations[i] as usize + 1;
            let image = self.image[2 + i] + (self.pads[i] + self.pads[rank + i]) as usize;
            (image - reach) / self.strides[i] as usize + 1
        };
        [self.image[0], self.filters[0]].into_iter().chain((0..rank).map(output)).collect()
    }

    /// Returns the program.
    fn text(&self) -> String {
        let shape =
            |extents: &[usize]| format!("tensor<{}f32>", extents.iter().map(|d| format!("{d}x")).collect::<String>());
        let list = |of: &[i64]| format!("array<i64: {}>", of.iter().map(i64::to_string).collect::<Vec<_>>().join(", "));
        let [x, w, y] = [self.image, self.filters, &self.result()].map(shape);
        format!(
            "func.func @main(%x: {x}, %w: {w}) -> {y} {{\n  %y = graph.conv %x, %w {{group = {} : i64, strides = {}, \
             dilations = {}, pads = {}}} : ({x}, {w}) -> {y} loc(\"the convolution\")\n  return %y : {y}\n}}\n",
            self.group,
            list(self.strides),
            list(self.dilations),
            list(self.pads)
        )
    }

    /// Returns the result of the program by reference evaluation.
    fn reference(&self, image: &Tensor, filters: &Tensor) -> Tensor {
        let m = parse(&Tool::gradus().context(), &self.text()).expect("it is valid");
        let main = Interpreter::new(&m).function("main").expect("it has one");
        let inputs = [image, filters].map(|tensor| Datum::Tensor(tensor.clone()));
        let results = Interpreter::new(&m).call(main, inputs.to_vec()).expect("it runs");
        results[0].tensor().expect("it is a tensor").clone()
    }

    /// Returns an image with zeros around it.
    fn padded(&self, image: &Tensor) -> Tensor {
        let rank = self.image.len();
        let pads =
            |i: usize| if i < 2 { [0; 2] } else { [self.pads[i - 2], self.pads[i - 2 + rank - 2]].map(|p| p as usize) };
        let sizes: Vec<usize> = (0..rank).map(|i| self.image[i] + pads(i)[0] + pads(i)[1]).collect();
        let (from, mut to) = (image.as_slice::<f32>(), vec![0.0; sizes.iter().product()]);
        for (i, &x) in from.iter().enumerate() {
            let (mut rest, mut at, mut stride) = (i, 0, 1);
            for axis in (0..rank).rev() {
                at += (rest % self.image[axis] + pads(axis)[0]) * stride;
                (rest, stride) = (rest / self.image[axis], stride * sizes[axis]);
            }
            to[at] = x;
        }
        Tensor::from_vec(&sizes, to)
    }

    /// Writes the tables of the program to a file and reads them.
    fn tables(&self, folder: &Path) -> (PathBuf, Vec<TableRecord>) {
        self.tables_by(self.options, folder)
    }

    fn tables_by(&self, options: &str, folder: &Path) -> (PathBuf, Vec<TableRecord>) {
        let [program, tables] = ["conv.mlir", "conv.tables"].map(|name| folder.join(name));
        std::fs::write(&program, self.text()).expect("a file can be written");
        let tables_only = format!("--tables-only={options}");
        let [from, to] = [&program, &tables].map(|path| path.display().to_string());
        let output = gradus(&["compile", &from, &tables_only, "-o", &to]);
        assert_eq!((output.code, &*output.err), (0, ""), "{options}");
        let bytes = std::fs::read(&tables).expect("it was written");
        let artifact = Artifact::open("conv.tables", bytes.into()).expect("it has a header");
        (tables, table_file::read(&artifact).expect("it is valid"))
    }
}

/// Returns small integers, whose sums are exact.
fn small(random: &mut Random, shape: &[usize]) -> Tensor {
    let count = shape.iter().product();
    Tensor::from_vec(shape, (0..count).map(|_| random.below(19) as f32 - 9.0).collect())
}

/// A C program maps each file and computes the convolution of its own data; the result equals the reference.
#[test]
fn another_process_computes_through_a_mapped_file() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let program = folder.path().join("convolve");
    let source = root().join("tests/tables/convolve.c");
    let flags = ["-O1", "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror", "-o"];
    let compiled = Command::new("cc").args(flags).args([&program, &source]).status();
    assert!(compiled.expect("this test needs a C compiler, 'cc'").success());
    let (mut random, mut seen) = (Random::of("tables"), [0; 3]);
    for case in CASES {
        let (tables, records) = case.tables(folder.path());
        let [record] = &records[..] else { panic!("{}: {} tables", case.options, records.len()) };
        assert_eq!((&*record.name, record.agrees_with_geometry()), ("the convolution", Some(true)), "{}", case.options);
        seen[match (record.table.addressing(), record.table.encoding()) {
            (Addressing::Indirect { .. }, _) => 2,
            (_, Encoding::Running) => 1,
            (_, Encoding::Absolute) => 0,
        }] += 1;
        let (image, filters) = (small(&mut random, case.image), small(&mut random, case.filters));
        let wanted = case.reference(&image, &filters);
        let sizes = &record.geometry.as_ref().expect("it is known").sizes;
        let is_copied = sizes.iter().zip(case.image).any(|(&size, &extent)| size != extent as i64);
        let image = if is_copied { case.padded(&image) } else { image };
        let files = ["image", "filters", "result"].map(|name| folder.path().join(name));
        for (path, tensor) in files.iter().zip([&image, &filters]) {
            std::fs::write(path, tensor.bytes()).expect("a file can be written");
        }
        let ran = Command::new(&program).arg(&tables).arg("0").args(&files).output().expect("it runs");
        assert!(ran.status.success(), "{}: {}", case.options, String::from_utf8_lossy(&ran.stderr));
        let bytes = std::fs::read(&files[2]).expect("it was written");
        let found = Tensor::new(wanted.dtype(), wanted.shape().to_vec(), bytes.into()).expect("it has the same size");
        assert_eq!(found.to_f64(), wanted.to_f64(), "{} {:?}", case.options, case.image);
    }
    assert!(seen.iter().all(|&count| count > 1), "absolute, running, indirect: {seen:?}");
}

/// Both derivations write the same file.
#[test]
fn derivations_agree() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    for case in CASES {
        let options = case.options.replace("derivation=coordinates", "");
        let [one, other] = ["loops", "coordinates"].map(|derivation| {
            let path = case.tables_by(&format!("{options} derivation={derivation}"), folder.path()).0;
            std::fs::read(path).expect("it was written")
        });
        assert!(one == other, "{options}");
    }
}

/// The tables of a network, with all kinds of ops, by inspect.
#[test]
fn inspect_shows_tables() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let tables = folder.path().join("digits.tables").display().to_string();
    let model = root().join("examples/digits_cnn.onnx").display().to_string();
    assert_eq!(gradus(&["compile", &model, "--tables-only=encoding=running", "-o", &tables]).err, "");
    let output = gradus(&["inspect", &tables]);
    assert_eq!((output.code, &*output.err), (0, ""));
    assert_eq!(output.out.lines().count(), 12);
    assert!(output.out.lines().all(|line| line.ends_with("equal to the table of its geometry")), "{}", output.out);
    let one = gradus(&["inspect", &tables, "--op", "stem", "--row", "1"]).out;
    assert!(one.contains("0: 'stem' addr.gemm, 64 rows x 3 runs x 3, running,"), "{one}");
    assert!(one.contains("\nrunning   0 1 1 8 1 1 8 1 1\nrow 1 reads 1 2 3 11 12 13 21 22 23\n"), "{one}");
    for (args, message) in [
        (&["run", &tables][..], "has address tables and no program; 'inspect' shows them"),
        (&["opt", &tables], "has address tables and no program"),
        (&["inspect", &tables, "--op", "12"], "there is no table '12' among the 12 of the file"),
        (&["inspect", &tables, "--op", "0", "--row", "64"], "row 64 is out of range: op 0 has 64 rows"),
        (&["inspect", &tables, "--svg", "x.svg"], "no program to draw"),
        (&["compile", &model, "--tables-only=encoding=other", "-o", &tables], "--tables-only: "),
    ] {
        let output = gradus(args);
        assert!(output.code != 0 && output.err.contains(message), "{args:?}: {}", output.err);
    }
}

/// Each changed or missing byte is noticed; with valid checksums, what is read is in bounds. The variable `GRADUS_TRIALS` sets
/// the number of files.
#[test]
fn damaged_files_are_refused() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let files = [2, 7, 10].map(|i: usize| std::fs::read(CASES[i].tables(folder.path()).0).expect("it was written"));
    let open = |bytes: Vec<u8>| table_file::read(&Artifact::open("x.tables", bytes.into())?);
    let bytes = &files[0];
    assert!((0..bytes.len()).all(|len| open(bytes[..len].to_vec()).is_err()));
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(open(changed).is_err(), "byte {at}");
    }
    let trials = std::env::var("GRADUS_TRIALS").ok().and_then(|trials| trials.parse().ok()).unwrap_or(5_000);
    let (mut random, mut accepted) = (Random::of("damaged tables"), 0);
    for i in 0..trials {
        let mut changed = files[i % files.len()].clone();
        let at = 72 + random.below(changed.len() as u64 - 72) as usize;
        changed[at] = random.below(256) as u8;
        seal(&mut changed);
        let Ok(records) = open(changed) else { continue };
        accepted += 1;
        for record in records {
            assert!(record.table.check(record.elements as i64).is_ok());
            record.agrees_with_geometry();
        }
    }
    assert!(accepted > 0);
}

/// A program is not a file of tables.
#[test]
fn programs_are_no_tables() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("model.gradus").display().to_string();
    let model = root().join("examples/digits_cnn.onnx").display().to_string();
    assert_eq!(gradus(&["compile", &model, "-o", &path]).err, "");
    let artifact = Artifact::open("model.gradus", std::fs::read(&path).expect("it was written").into()).expect("valid");
    let said = table_file::read(&artifact).expect_err("it is a program");
    assert_eq!(said[0].message, "not a file of address tables: it is a compiled program");
}
