//! `.npz` files: archives of arrays.

use crate::{MAX_HEADER, NpyError, open, read_array, replace, write_array};
use gradus_ir::tensor::Tensor;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Maximum compression ratio: deflate needs at least two bits for 258 bytes.
const MAX_DEFLATE_RATIO: u64 = 1032;

/// Reads an `.npz` file, compressed or not: the named arrays in archive order.
///
/// # Errors
/// As [`read_npy`](crate::read_npy); also if the archive is damaged, contains other files than arrays, repeats a name, or has
/// overlapping entries (with which a small archive unpacks to an enormous one).
pub fn read_npz(path: &Path) -> Result<Vec<(String, Tensor)>, NpyError> {
    let (file, size) = open(path)?;
    read_archive(file, size).map_err(|e| NpyError::new(path, &e))
}

/// Writes an uncompressed `.npz` file, as `numpy.savez` does, with arrays as in [`write_npy`](crate::write_npy). Fails if two arrays have
/// the same name, or if a name is empty or contains NUL, which readers do not return.
pub fn write_npz(path: &Path, tensors: &[(String, Tensor)]) -> Result<(), NpyError> {
    replace(path, |w| {
        let mut zip = ZipWriter::new(w);
        for (name, t) in tensors {
            let fail = |e: String| format!("array '{name}': {e}");
            if name.is_empty() || name.contains('\0') {
                return Err(fail("not a name that can be read back".to_owned()));
            }
            // Lengths in the archive have four bytes unless announced otherwise; `bf16` doubles in size.
            let large = t.bytes().len() > (u32::MAX / 2) as usize - MAX_HEADER;
            let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(large);
            zip.start_file(format!("{name}.npy"), options).map_err(|e| fail(e.to_string()))?;
            write_array(&mut zip, t).map_err(fail)?;
        }
        zip.finish().map(drop).map_err(|e| e.to_string())
    })
}

fn read_archive(file: File, mut budget: u64) -> Result<Vec<(String, Tensor)>, String> {
    let mut zip = ZipArchive::new(BufReader::new(file)).map_err(|e| e.to_string())?;
    if zip.has_duplicate_names() {
        return Err("two entries have one name".to_owned());
    }
    let mut tensors = Vec::new();
    for i in 0..zip.len() {
        let entry = zip.by_index(i).map_err(|e| format!("entry {i}: {e}"))?;
        let name = entry.name().map_err(|e| format!("entry {i}: {e}"))?.into_owned();
        let (packed, size) = (entry.compressed_size(), entry.size());
        let fail = |e: &str| format!("entry '{name}': {e}");
        budget = budget.checked_sub(packed).ok_or_else(|| fail("overlaps another entry or exceeds the file"))?;
        let most = match entry.compression() {
            CompressionMethod::Stored => packed,
            _ => packed.saturating_mul(MAX_DEFLATE_RATIO),
        };
        if size > most {
            return Err(fail(&format!("{packed} bytes cannot unpack to {size}")));
        }
        let tensor = read_array(entry, size).map_err(|e| fail(&e))?;
        let name = name.strip_suffix(".npy").ok_or_else(|| fail("not named as an .npy array"))?;
        tensors.push((name.to_owned(), tensor));
    }
    Ok(tensors)
}
