//! `gradus plan`: reference instances, the written rows and picture, and files that are no problem.

use crate::support::{Output, gradus, root};
use gradus::plan::csv::Table;
use gradus::plan::{Budget, Plan, Pool, Problem, plan, validate};
use std::ops::ControlFlow;

/// Returns the path of a reference instance.
fn instance(name: &str) -> String {
    root().join("tests/plan").join(name).display().to_string()
}

/// Plans a file with the given contents.
fn planned(text: impl AsRef<[u8]>, flags: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::write(folder.path().join("b.csv"), text).expect("a file can be written");
    let path = folder.path().join("b.csv").display().to_string();
    let output = gradus(&[&["plan", &path], flags].concat());
    let rest = |text: String| text.replace(&path, "b.csv");
    Output { out: rest(output.out), err: rest(output.err), ..output }
}

/// Returns the peak and the lower bound that a report shows.
fn figures(report: &str) -> [u64; 2] {
    let number = |name: &str| {
        let line = report.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{report}"));
        line.trim().trim_end_matches(" bytes").parse().expect("is a number")
    };
    ["peak", "lower bound"].map(number)
}

#[test]
fn hard_instances_fit() {
    for (name, most, at_bound) in [
        ("B.1048576.csv", 1_048_576, true),
        ("C.1048576.csv", 1_039_360, true),
        ("G.1048576.csv", 1_048_576, true),
        ("H.1048576.csv", 1_048_576, true),
        ("J.1048576.csv", 1_048_576, false),
        ("input.12.csv", 12, true),
        ("kann/googlenet-f16.plan.csv", 1_032_192, true),
        ("kann/resnet50-int8.plan.csv", 516_096, true),
        ("kann/squeezenet-f16.plan.csv", 411_264, true),
    ] {
        let output =
            gradus(&["plan", &instance(name), "--capacity", &most.to_string(), "--steps", "60000000", "-o", "-"]);
        assert_eq!(output.code, 0, "{name}: {}{}", output.out, output.err);
        let [peak, bound] = figures(&output.err);
        assert!(bound <= peak && peak <= most && (peak == bound || !at_bound), "{name}: {}", output.err);
        let table = Table::parse(&output.out, true).expect("the rows are in the same form");
        let offsets = table.buffers.iter().map(|b| b.fixed.expect("each row has an offset")).collect();
        let plan = Plan { offsets, pools: vec![0; table.buffers.len()], peaks: vec![peak], ..Plan::default() };
        let problem =
            Problem::new(table.buffers, vec![Pool { capacity: Some(most) }], Vec::new()).expect("is a problem");
        assert_eq!(validate(&problem, &plan), Ok(()), "{name}");
    }
}

/// The same instance with time reversed and sizes times 7 has a plan exactly if the original has.
#[test]
fn reversed_instances_fit() {
    for name in ["B", "C", "G", "H"] {
        let text = std::fs::read_to_string(instance(&format!("{name}.1048576.csv"))).expect("can be read");
        let mut buffers = Table::parse(&text, false).expect("is a table").buffers;
        for buffer in &mut buffers {
            (buffer.start, buffer.end, buffer.bytes) = (-buffer.end, -buffer.start, buffer.bytes * 7);
        }
        buffers.sort_by_key(|b| b.start * 31 % 97);
        let problem = Problem::new(buffers, vec![Pool { capacity: Some(7 << 20) }], Vec::new()).expect("is a problem");
        let plan = plan(&problem, Budget::steps(60_000_000), &mut |_| ControlFlow::Continue(())).expect("fits");
        assert_eq!(plan.peak(), plan.lower_bound(), "{name}");
        assert_eq!(validate(&problem, &plan), Ok(()), "{name}");
    }
}

#[test]
fn rows_are_written_with_offsets() {
    let text = "id,lower,upper,size,note\nx,0,2,10,first\ny,1,3,20,\nz,2,4,10,last\n";
    let output = planned(text, &["-o", "-"]);
    let rows = "id,lower,upper,size,note,offset\nx,0,2,10,first,20\ny,1,3,20,,0\nz,2,4,10,last,20\n";
    assert_eq!((output.code, output.out.as_str()), (0, rows));
    let report = "buffers      3\npeak         30 bytes\nlower bound  30 bytes\ngap          0.00 % (optimal)\n";
    let warning =
        "b.csv:1:21: warning: column 'note' is not read; the columns are id, lower, upper, size, alignment, offset\n";
    assert!(output.err.starts_with(warning) && output.err.contains(report), "{}", output.err);
    let output = planned(text, &["-o", "-", "--alignment", "16"]);
    assert!(output.out.ends_with("y,1,3,20,,16\nz,2,4,10,last,0\n"), "{}", output.out);
    let kept = planned("id,lower,offset,upper,size\nx,0,8,2,4\ny,0,,3,9\n", &["--keep-offsets", "-o", "-"]);
    assert_eq!(kept.out, "id,lower,offset,upper,size\nx,0,8,2,4\ny,0,12,3,9\n", "{}", kept.err);
}

#[test]
fn a_picture_shows_every_buffer() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("plan.svg").display().to_string();
    let output = gradus(&["plan", &instance("input.12.csv"), "--capacity", "16", "--svg", &path]);
    assert_eq!(output.code, 0, "{}", output.err);
    let svg = std::fs::read_to_string(path).expect("was written");
    assert_eq!(svg.matches("<title>").count(), 5);
    assert!(["capacity: 16 bytes", "peak: 12 bytes", "lower bound: 12 bytes"].iter().all(|t| svg.contains(t)), "{svg}");
}

#[test]
fn without_a_plan_a_capacity_is_named() {
    let output = gradus(&["plan", &instance("input.12.csv"), "--capacity", "11"]);
    assert_eq!(output.code, 1);
    assert!(output.err.contains("no plan fits; a capacity of 12 bytes would do"), "{}", output.err);
    let output = planned("id,lower,upper,size,offset\na,0,2,8,0\nb,1,3,8,4\n", &["--keep-offsets"]);
    let message = "error: 'b.csv': the offsets of buffers 'a' and 'b' overlap while both are live\n";
    assert_eq!((output.code, output.out.as_str(), output.err.as_str()), (1, "", message));
}

#[test]
fn damaged_files_are_rejected_at_their_place() {
    let header = "id,lower,upper,size,alignment,offset\n";
    for (rows, message) in [
        ("a,0,2", "2:1: error: the row has 3 cells, the header 6"),
        ("a,0,2,x,1,0", "2:7: error: size 'x' is not an integer"),
        ("a,0,2,,1,0", "2:7: error: size '' is not an integer"),
        ("a,0,2,-5,1,0", "2:7: error: size -5 is negative"),
        ("a,0,2,5,0,0", "2:9: error: alignment 0 divides no offset"),
        ("a,0,2,5,8,4", "2:11: error: offset 4 is not a multiple of the alignment 8"),
        ("a,2,2,5,1,0", "2:5: error: upper 2 is not after lower 2"),
        ("\na,0,99999999999999999999,5,1,0", "3:5: error: upper '99999999999999999999' does not fit into 64 bits"),
        ("a,0,2,9223372036854775807,1,0", "error: 'b.csv': the sizes, alignments and fixed offsets add up to 2^63"),
    ] {
        let output = planned(format!("{header}{rows}\n"), &["--keep-offsets"]);
        assert_eq!(output.code, 1, "{rows}: {}", output.out);
        assert!(output.err.contains(message), "{rows}: {}", output.err);
    }
    for (text, message) in [
        ("", "1:1: error: the file has no header 'id,lower,upper,size'"),
        ("id,lower,upper\n", "1:1: error: the header has no column 'size'"),
        ("id,lower,size,upper,size\n", "1:21: error: there are two columns 'size'"),
    ] {
        let output = planned(text, &[]);
        assert!(output.code == 1 && output.err.contains(message), "{text}: {}", output.err);
    }
    assert_eq!(planned(b"id,lower,upper,size\n\xff", &[]).code, 1);
    assert_eq!(planned("id,lower,upper,size\n", &[]).code, 0);
    let extreme = format!("id,lower,upper,size\na,{},{},{}\nb,0,1,5\n", i64::MIN, i64::MAX, 1_u64 << 61);
    assert_eq!(planned(extreme, &["--steps", "1000"]).code, 0);
}

/// Damaged bytes give a plan or a message.
#[test]
fn random_damage_is_harmless() {
    let text = std::fs::read(instance("input.12.csv")).expect("can be read");
    let mut state = 7_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..2000 {
        let mut damaged = text.clone();
        for _ in 0..1 + next(3) {
            let at = next(damaged.len());
            damaged[at] = b",0123456789-\n\r a\xef"[next(17)];
        }
        let Ok(text) = String::from_utf8(damaged) else { continue };
        let Ok(table) = Table::parse(&text, true) else { continue };
        let Ok(problem) = Problem::new(table.buffers, vec![Pool::default()], Vec::new()) else { continue };
        if let Ok(plan) = plan(&problem, Budget::steps(10_000), &mut |_| ControlFlow::Continue(())) {
            assert_eq!(validate(&problem, &plan), Ok(()), "{text}");
        }
    }
}
