//! Parallel printing: each thread prints some of the functions of a large program.

use super::number::Numbering;
use super::options::PrintOptions;
use super::print_alias::AliasBuilder;
use super::printer::Printer;
use super::visit_aliases::visit_aliases;
use crate::intern::Str;
use crate::module::{Block, Module, Op};
use crate::threads::partition::MIN_OPS;
use indexmap::IndexSet;
use std::collections::BTreeMap;
use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

/// Parts per thread. Small parts balance the load however large single functions are.
const PARTS: usize = 16;

/// Returns the number of ops per part.
fn part_len(ops: &[Op], threads: usize) -> usize {
    ops.len().div_ceil(PARTS * threads).max(1)
}

/// Whether no type or attribute in a block needs an alias, checked by several threads.
pub(super) fn is_plain(m: &Module, block: Block, options: PrintOptions) -> bool {
    let ops: Vec<Op> = m.block_ops(block).collect();
    let parts: Vec<&[Op]> = ops.chunks(part_len(&ops, options.threads)).collect();
    let (next, plain) = (AtomicUsize::new(0), AtomicBool::new(true));
    let look = || {
        let mut builder = AliasBuilder::new(&m.ctx, &m.alias_hints);
        while plain.load(Ordering::Relaxed)
            && let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed))
        {
            part.iter().for_each(|&op| visit_aliases(m, op, options, &mut builder));
            plain.fetch_and(builder.is_empty(), Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        (1..options.threads.min(parts.len())).for_each(|_| drop(scope.spawn(look)));
        look();
    });
    plain.into_inner()
}

/// Returns the block of `op` whose ops are printed in parallel: large enough, and without distinct attributes, whose
/// text depends on the text before.
pub(super) fn divisible(m: &Module, op: Op, options: PrintOptions) -> Option<Block> {
    let &[region] = m.regions(op) else { return None };
    let worthwhile = options.threads > 1 && !options.skip_regions && m.num_ops() >= 2 * MIN_OPS;
    let distinct = m.ctx.next_distinct.load(Ordering::Relaxed) > 0;
    (worthwhile && !distinct && m.has_one_block(region)).then(|| m.only_block(region))
}

/// Returns the results of two functions, run in parallel if `threads` is set.
pub(super) fn both<A: Send, B>(threads: bool, first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    if !threads {
        return (first(), second());
    }
    thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        (first.join().unwrap_or_else(|panic| resume_unwind(panic)), second)
    })
}

impl Printer<'_> {
    /// Prints ops in parallel, each on a line of its own. Finished text goes to the sink in order and as early as
    /// possible.
    pub(super) fn ops_by_threads(&mut self, ops: &[Op]) -> io::Result<()> {
        let parts: Vec<&[Op]> = ops.chunks(part_len(ops, self.options.threads)).collect();
        let (m, aliases, options, indent, separate) = (self.m, self.aliases, self.options, self.indent, self.separate);
        let numbers = self.numbers.clone();
        let next = AtomicUsize::new(0);
        let print = |done: &mut dyn FnMut(usize, TextPart) -> io::Result<()>| -> io::Result<()> {
            let mut nowhere = io::sink();
            let mut printer = Printer::new(m, aliases, numbers.clone(), options, &mut nowhere);
            (printer.indent, printer.flush_at) = (indent, usize::MAX);
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(&part) = parts.get(i) else { return Ok(()) };
                if separate {
                    printer.numbers = Arc::new(Numbering::of_ops(m, part, options));
                }
                part.iter().try_for_each(|&op| printer.line(op))?;
                let text = std::mem::take(&mut printer.out);
                done(i, TextPart { text, resources: std::mem::take(&mut printer.attrs.resources) })?;
            }
        };
        self.flush()?;
        let mut buffer = ReorderBuffer {
            sink: &mut *self.sink,
            resources: &mut self.attrs.resources,
            next: 0,
            waiting: BTreeMap::new(),
        };
        thread::scope(|scope| {
            let (send, receive) = channel();
            for _ in 1..options.threads.min(parts.len()) {
                let send = send.clone();
                // Sending fails only after the sink has failed, when the remaining output is not needed.
                scope.spawn(|| print(&mut move |i, part| send.send((i, part)).map_err(io::Error::other)));
            }
            drop(send);
            print(&mut |i, part| {
                buffer.add(i, part)?;
                receive.try_iter().try_for_each(|(i, part)| buffer.add(i, part))
            })?;
            receive.iter().try_for_each(|(i, part)| buffer.add(i, part))
        })
    }
}

/// The text of consecutive ops and the resources that it references.
struct TextPart {
    text: String,
    resources: IndexSet<Str>,
}

/// A reorder buffer that writes parts in program order.
struct ReorderBuffer<'a> {
    sink: &'a mut dyn io::Write,
    resources: &'a mut IndexSet<Str>,
    /// Index of the next part to write.
    next: usize,
    waiting: BTreeMap<usize, TextPart>,
}

impl ReorderBuffer<'_> {
    fn add(&mut self, i: usize, part: TextPart) -> io::Result<()> {
        self.waiting.insert(i, part);
        while let Some(part) = self.waiting.remove(&self.next) {
            self.sink.write_all(part.text.as_bytes())?;
            self.resources.extend(part.resources);
            self.next += 1;
        }
        Ok(())
    }
}
