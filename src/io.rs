//! File access: the only module that reads and writes files.

use crate::{Failure, Streams};
use gradus_ir::{Context, Diagnostic, Loc, Module, ParseOptions, parse_source};
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A part of a file that is a program.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Name of the file in messages.
    pub name: String,
    /// The program.
    pub text: Arc<String>,
    /// The 1-based line and column of its start in the file.
    pub start: (u32, u32),
}

/// Prints diagnostics, or compares them with the expected ones.
pub fn report(ctx: &Context, diagnostics: &[Diagnostic], streams: &mut Streams<'_>) -> Failure {
    for d in diagnostics {
        match &mut streams.expected {
            Some(verifier) => verifier.process(ctx, d),
            None => drop(streams.err.write_all(d.render(ctx).as_bytes())),
        }
    }
    Failure::Reported
}

/// Reads a file, or standard input for `-`.
pub fn read(path: &str, streams: &Streams<'_>) -> Result<Vec<u8>, Failure> {
    read_on(path, 1, streams)
}

fn read_on(path: &str, threads: usize, streams: &Streams<'_>) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let result = match path {
        "-" if streams.input.is_some() => return Ok(streams.input.unwrap_or_default().to_vec()),
        "-" => std::io::stdin().read_to_end(&mut bytes).map(|_| ()),
        _ => File::open(path).and_then(|f| read_file(&f, threads, &mut bytes)),
    };
    result.map_err(|e| Failure::Input(format!("cannot read '{path}': {e}")))?;
    Ok(bytes)
}

/// Reads a whole file.
fn read_file(file: &File, threads: usize, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    let (mut file, metadata) = (file, file.metadata()?);
    let size = usize::try_from(metadata.len()).unwrap_or(0);
    if metadata.is_file() && threads > 1 && size >= LARGE {
        read_halves(file, bytes, size)?;
        file.seek(SeekFrom::Start(bytes.len() as u64))?;
    }
    // Files of unknown size, and bytes appended during the read.
    bytes.reserve_exact(size + 1 - bytes.len());
    file.read_to_end(bytes).map(|_| ())
}

/// File size in bytes from which a second thread pays off.
const LARGE: usize = 16 << 20;

/// Reads `size` bytes on two threads.
#[cfg(unix)]
fn read_halves(file: &File, bytes: &mut Vec<u8>, size: usize) -> std::io::Result<()> {
    use std::os::unix::fs::FileExt;
    *bytes = vec![0; size];
    let (first, second) = bytes.split_at_mut(size / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(move || file.read_exact_at(second, (size / 2) as u64));
        file.read_exact_at(first, 0).and(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Reads all bytes on one thread, on systems without positioned reads.
#[cfg(not(unix))]
fn read_halves(_: &File, _: &mut Vec<u8>, _: usize) -> std::io::Result<()> {
    Ok(())
}

/// Returns the file, or for a folder all files under it with the extension, sorted.
#[cfg(feature = "check")]
pub fn files(path: &str, extension: &str) -> Result<Vec<String>, Failure> {
    let (mut open, mut found) = (vec![Path::new(path).to_owned()], Vec::new());
    while let Some(path) = open.pop() {
        let name = path.display().to_string();
        let fail = |e: std::io::Error| Failure::Input(format!("cannot read '{name}': {e}"));
        if path.is_dir() {
            let entries: Result<Vec<_>, _> = std::fs::read_dir(&path).map_err(fail)?.collect();
            let inside = entries.map_err(fail)?.into_iter().map(|entry| entry.path());
            open.extend(inside.filter(|path| path.is_dir() || path.extension().is_some_and(|e| e == extension)));
        } else {
            found.push(name);
        }
    }
    found.sort();
    Ok(found)
}

/// The first bytes of MLIR's bytecode.
const BYTECODE: &[u8] = b"ML\xefR";

/// Reads a text file. Invalid UTF-8 is an error at its first invalid byte.
pub fn text(path: &str, streams: &mut Streams<'_>) -> Result<Chunk, Failure> {
    text_on(path, 1, streams)
}

/// Does the same as [`text`] on several threads.
pub fn text_on(path: &str, threads: usize, streams: &mut Streams<'_>) -> Result<Chunk, Failure> {
    let name = if path == "-" { "<stdin>" } else { path };
    match String::from_utf8(read_on(path, threads, streams)?) {
        Ok(text) => Ok(Chunk { name: name.to_owned(), text: Arc::new(text), start: (1, 1) }),
        Err(e) => {
            let (at, message) = match e.as_bytes().starts_with(BYTECODE) {
                true => (0, "this is MLIR bytecode, which is not read; mlir-opt prints it as text"),
                false => (e.utf8_error().valid_up_to(), "the text is not UTF-8 from here on"),
            };
            let text = String::from_utf8_lossy(&e.as_bytes()[..at]).into_owned();
            let ctx = Context::new(&[]);
            let place = Loc::source(ctx.add_source(name, Arc::new(text)), at);
            Err(report(&ctx, &[Diagnostic::error(place, message)], streams))
        }
    }
}

/// Parses a program.
pub fn parse(
    ctx: &Arc<Context>,
    chunk: &Chunk,
    options: ParseOptions,
    streams: &mut Streams<'_>,
) -> Result<Module, Failure> {
    parse_with(parse_source, ctx, chunk, options, streams)
}

/// A parser of a context's source.
pub type Parser = fn(&Arc<Context>, u32, ParseOptions) -> Result<Module, Vec<Diagnostic>>;

/// Does the same as [`parse`] with a given parser.
pub fn parse_with(
    parser: Parser,
    ctx: &Arc<Context>,
    chunk: &Chunk,
    options: ParseOptions,
    streams: &mut Streams<'_>,
) -> Result<Module, Failure> {
    let source = ctx.add_source_part(&chunk.name, chunk.text.clone(), chunk.start);
    parser(ctx, source, options).map_err(|d| report(ctx, &d, streams))
}

/// Writes the output of `fill`: to the output stream for `-`, otherwise to a temporary file that replaces `path` on
/// success, so that no file is ever half written.
pub fn write(
    path: &str,
    streams: &mut Streams<'_>,
    fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let failed = |e: std::io::Error| Failure::Input(format!("cannot write '{path}': {e}"));
    if path == "-" {
        return match fill(streams.out).and_then(|()| streams.out.flush()) {
            // The reader closed the pipe, as in `gradus opt ... | head`.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => other.map_err(failed),
        };
    }
    let target = Path::new(path);
    if target.exists() && !target.is_file() {
        // Devices and pipes cannot be replaced by renaming.
        let mut out = std::fs::OpenOptions::new().write(true).open(target).map_err(failed)?;
        return fill(&mut out).map_err(failed);
    }
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = temporary().tempfile_in(folder).map_err(failed)?;
    fill(file.as_file_mut()).map_err(failed)?;
    file.persist(target).map_err(|e| failed(e.error))?;
    Ok(())
}

/// Returns a temporary file with default permissions.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// Writes a file and creates its parent folders.
pub fn write_file(path: &Path, text: &str, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let name = path.display();
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|e| Failure::Input(format!("cannot write '{name}': {e}")))?;
    }
    let name = path.to_str().ok_or_else(|| Failure::Input(format!("cannot write '{name}': its name is not UTF-8")))?;
    write(name, streams, |out| out.write_all(text.as_bytes()))
}

/// Creates a file for incremental writing, whose contents survive a crash.
pub fn create(path: &str) -> Result<Box<dyn Write + Send>, Failure> {
    let file = File::create(path).map_err(|e| Failure::Input(format!("cannot write '{path}': {e}")))?;
    Ok(Box::new(BufWriter::new(file)))
}

/// A text buffer with several writers.
#[derive(Clone, Default)]
pub struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl SharedBuffer {
    /// Returns a writer into the buffer.
    pub fn sink(&self) -> Box<dyn Write + Send> {
        Box::new(self.clone())
    }

    /// Returns and clears the text.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Prints and clears the text.
    pub fn drain(&self, out: &mut dyn Write) {
        let _ = out.write_all(&self.take());
    }
}

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
