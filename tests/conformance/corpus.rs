//! Archives in memory, and cases on all cores.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The files of an archive, by path relative to its top-level folder.
pub struct Corpus(BTreeMap<String, Vec<u8>>);

impl Corpus {
    /// Reads `tests/conformance/NAME.tar.gz`.
    pub fn open(name: &str) -> Corpus {
        Corpus::read(&crate::support::root().join(format!("tests/conformance/{name}.tar.gz")))
    }

    /// Reads an archive.
    pub fn read(path: &Path) -> Corpus {
        let file = std::fs::File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
        let mut files = BTreeMap::new();
        for entry in archive.entries().expect("the archive can be read") {
            let mut entry = entry.expect("the archive is whole");
            let path = entry.path().expect("paths are plain").display().to_string();
            let Some((_, path)) = path.trim_start_matches("./").split_once('/') else { continue };
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("the archive is whole");
            files.insert(path.to_owned(), bytes);
        }
        Corpus(files)
    }

    /// Adds the files of another archive, and the rows of its index.
    pub fn with(mut self, other: Corpus) -> Corpus {
        let index =
            [self.text("index.tsv"), &other.text("index.tsv").lines().skip(1).collect::<Vec<_>>().join("\n")].concat();
        self.0.extend(other.0);
        self.0.insert("index.tsv".to_owned(), index.into_bytes());
        self
    }

    /// Returns a file, if it exists.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.0.get(path).map(Vec::as_slice)
    }

    /// Returns a file of text.
    pub fn text(&self, path: &str) -> &str {
        let bytes = self.get(path).unwrap_or_else(|| panic!("the archive has no '{path}'"));
        std::str::from_utf8(bytes).unwrap_or_else(|e| panic!("'{path}': {e}"))
    }

    /// Returns the rows of the index without its header.
    pub fn index(&self) -> Vec<Vec<&str>> {
        self.text("index.tsv").lines().skip(1).map(|l| l.split('\t').collect()).collect()
    }
}

/// Runs `case` on every item, on all cores. Results are in the order of the items.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], case: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::default();
    let work = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(i) else { return };
            let result = case(item);
            results.lock().expect("no case panics with the lock").push((i, result));
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let mut results = results.into_inner().expect("no case panics with the lock");
    results.sort_by_key(|r| r.0);
    results.into_iter().map(|r| r.1).collect()
}

/// Fails with the list of failures, if any.
pub fn all_good(what: &str, total: usize, failures: &[String]) {
    let shown = failures.iter().take(30).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {total} {what}, the first of them:\n{shown}", failures.len());
}
