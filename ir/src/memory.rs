//! The memory of a program that is being executed.

use crate::context::Context;
use crate::datum::{Datum, floats_to_tensor, ints_to_tensor};
use crate::intern::Type;
use crate::layout::StridedLayout;
pub use crate::memref::{ByteView, MemRef};
use crate::memref::{MAX_ELEMENTS, outside};
use crate::module::Op;
use crate::races::{ParallelLoop, Touch};
use crate::symbols::SymbolTables;
use crate::tensor::{DType, Tensor};
use crate::trap::Trap;
use rustc_hash::FxHashMap;

/// Where a buffer is: who may write it and who ends its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    /// It lives until it is freed.
    Heap,
    /// It lives until its scope ends.
    Stack,
    /// It lives as long as the program, which may write it.
    Global,
    /// It lives as long as the program and is never written.
    Constant,
}

struct Buffer {
    elements: Vec<Datum>,
    storage: Storage,
}

/// Buffers, by number. Elements that nobody wrote are poison.
pub struct Memory {
    buffers: Vec<Option<Buffer>>,
    /// The live buffers of open scopes, outermost first.
    stack: Vec<u32>,
    globals: FxHashMap<Op, u32>,
    elements: usize,
    /// The parallel loops that are being executed, innermost last.
    parallel: Vec<ParallelLoop>,
    /// Whether what is done is done at once.
    atomic: bool,
    /// What ops that are being executed have for those in their regions to look at, such as masks; innermost last. Who puts
    /// something there takes it away.
    pub around: Vec<Vec<Datum>>,
    /// The program's symbols, by which ops find globals.
    pub symbols: SymbolTables,
    /// More live elements than this are refused.
    pub limit: usize,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory {
            buffers: Vec::new(),
            stack: Vec::new(),
            globals: FxHashMap::default(),
            elements: 0,
            parallel: Vec::new(),
            atomic: false,
            around: Vec::new(),
            symbols: SymbolTables::default(),
            limit: MAX_ELEMENTS,
        }
    }
}

impl Memory {
    /// Forgets everything but the symbols and the limit.
    pub fn reset(&mut self) {
        let symbols = std::mem::take(&mut self.symbols);
        *self = Memory { symbols, limit: self.limit, ..Memory::default() };
    }

    /// A new buffer on the heap, each element `init`.
    pub fn alloc(&mut self, elements: i64, init: Datum) -> Result<u32, Trap> {
        let n = usize::try_from(elements).map_err(|_| Trap::Ub("an allocation of negative size".into()))?;
        self.check_room(n)?;
        self.insert(vec![init; n], Storage::Heap)
    }

    /// A new buffer with those elements.
    pub fn insert(&mut self, elements: Vec<Datum>, storage: Storage) -> Result<u32, Trap> {
        self.check_room(elements.len())?;
        self.elements += elements.len();
        self.buffers.push(Some(Buffer { elements, storage }));
        let number = self.buffers.len() as u32 - 1;
        if storage == Storage::Stack {
            self.stack.push(number);
        }
        Ok(number)
    }

    /// A new buffer of poison for a memref of type `ty`, and the view of it: `sizes` in all dimensions, and the symbols of
    /// the layout. A layout that is not strided is taken for row-major: its elements can be told apart, not their distances.
    pub fn alloc_memref(
        &mut self,
        ctx: &Context,
        ty: Type,
        sizes: &[i64],
        symbols: &[i64],
        storage: Storage,
    ) -> Result<MemRef, Trap> {
        let layout = ctx.layout_of_sizes(ty, sizes, symbols).unwrap_or_else(|| StridedLayout::row_major(sizes));
        let n = usize::try_from(span(sizes, &layout)?).map_err(|_| Trap::unsupported("memory of that size"))?;
        self.check_room(n)?;
        let buffer = self.insert(vec![Datum::Poison; n], storage)?;
        Ok(MemRef::strided(buffer, sizes, layout))
    }

    fn check_room(&self, more: usize) -> Result<(), Trap> {
        match self.elements.checked_add(more).is_some_and(|n| n <= self.limit) {
            true => Ok(()),
            false => Err(Trap::unsupported(format!("more than {} elements of memory", self.limit))),
        }
    }

    /// Ends the life of a buffer on the heap. Later accesses are undefined behaviour.
    pub fn free(&mut self, buffer: u32) -> Result<(), Trap> {
        self.parallel.iter().try_for_each(|running| running.note_end(buffer))?;
        let slot = self.buffers.get_mut(buffer as usize);
        let freed = slot.and_then(|slot| slot.take_if(|b| b.storage == Storage::Heap));
        let freed = freed.ok_or_else(|| Trap::Ub("memory is freed that is not allocated".into()))?;
        self.elements -= freed.elements.len();
        Ok(())
    }

    /// How many buffers are on the stack: where a scope begins.
    pub fn scope(&self) -> usize {
        self.stack.len()
    }

    /// Ends the life of all buffers that came on the stack since the scope began.
    pub fn leave(&mut self, scope: usize) {
        for buffer in self.stack.drain(scope.min(self.stack.len())..) {
            let freed = self.buffers.get_mut(buffer as usize).and_then(Option::take);
            self.elements -= freed.map_or(0, |b| b.elements.len());
        }
    }

    /// The elements of a live buffer.
    pub fn buffer(&self, buffer: u32) -> Result<&[Datum], Trap> {
        let live = self.buffers.get(buffer as usize).and_then(Option::as_ref);
        live.map(|b| b.elements.as_slice()).ok_or_else(use_after_free)
    }

    /// The elements of a live buffer, to be changed.
    pub fn buffer_mut(&mut self, buffer: u32) -> Result<&mut [Datum], Trap> {
        let live = self.buffers.get_mut(buffer as usize).and_then(Option::as_mut).ok_or_else(use_after_free)?;
        if live.storage == Storage::Constant {
            return Err(Trap::Ub("a constant is written".into()));
        }
        Ok(&mut live.elements)
    }

    /// Whether a buffer is never written.
    pub fn is_constant(&self, buffer: u32) -> bool {
        let live = self.buffers.get(buffer as usize).and_then(Option::as_ref);
        live.is_some_and(|b| b.storage == Storage::Constant)
    }

    /// From now on a live buffer is never written.
    pub fn freeze(&mut self, buffer: u32) -> Result<(), Trap> {
        let live = self.buffers.get_mut(buffer as usize).and_then(Option::as_mut).ok_or_else(use_after_free)?;
        live.storage = Storage::Constant;
        Ok(())
    }

    /// A parallel loop begins.
    pub fn enter_parallel(&mut self) {
        self.parallel.push(ParallelLoop::new(self.buffers.len() as u32));
    }

    /// An iteration of the innermost parallel loop begins.
    pub fn next_iteration(&mut self) {
        self.parallel.last_mut().expect("a parallel loop is executed").next_iteration();
    }

    /// The innermost parallel loop ends.
    pub fn leave_parallel(&mut self) {
        self.parallel.pop();
    }

    /// Does something to memory at once, so that others that do the same may do it before or after.
    pub fn atomically<T>(&mut self, f: impl FnOnce(&mut Memory) -> T) -> T {
        let outer = std::mem::replace(&mut self.atomic, true);
        let result = f(self);
        self.atomic = outer;
        result
    }

    /// Finds races.
    #[cold]
    fn note(&mut self, buffer: u32, elements: std::ops::Range<usize>, touch: Touch) -> Result<(), Trap> {
        let touch = if self.atomic { Touch::Atomic } else { touch };
        let live = self.buffers.get(buffer as usize).and_then(Option::as_ref);
        let global = live.is_some_and(|b| matches!(b.storage, Storage::Global | Storage::Constant));
        for running in self.parallel.iter_mut().filter(|running| global || running.shares(buffer)) {
            elements.clone().try_for_each(|element| running.note(buffer, element, touch))?;
        }
        Ok(())
    }

    /// The elements of the buffer that the element at an address of a view is made of.
    fn place(&mut self, of: &MemRef, address: i64, touch: Touch) -> Result<std::ops::Range<usize>, Trap> {
        let range = of.place(address)?;
        if !self.parallel.is_empty() && self.buffer(of.buffer)?.get(range.clone()).is_some() {
            self.note(of.buffer, range.clone(), touch)?;
        }
        Ok(range)
    }

    /// The element at `indices`.
    pub fn load(&mut self, from: &MemRef, indices: &[i64]) -> Result<Datum, Trap> {
        self.load_at(from, from.address(indices)?)
    }

    /// The element at an address of the view.
    pub fn load_at(&mut self, from: &MemRef, address: i64) -> Result<Datum, Trap> {
        let place = self.place(from, address, Touch::Read)?;
        self.element(from, place)
    }

    /// The element in a place.
    fn element(&self, from: &MemRef, place: std::ops::Range<usize>) -> Result<Datum, Trap> {
        match (self.buffer(from.buffer)?.get(place).ok_or_else(outside)?, from.bytes) {
            (bytes, Some(view)) => join(view.dtype, bytes),
            (elements, None) => Ok(elements[0].clone()),
        }
    }

    /// Writes the element at `indices`.
    pub fn store(&mut self, value: Datum, to: &MemRef, indices: &[i64]) -> Result<(), Trap> {
        self.store_at(value, to, to.address(indices)?)
    }

    /// Writes the element at an address of the view.
    pub fn store_at(&mut self, value: Datum, to: &MemRef, address: i64) -> Result<(), Trap> {
        let place = self.place(to, address, Touch::Write)?;
        let elements = self.buffer_mut(to.buffer)?.get_mut(place).ok_or_else(outside)?;
        match to.bytes {
            Some(view) => elements.clone_from_slice(&cut(view.dtype, &value)?),
            None => elements[0] = value,
        }
        Ok(())
    }

    /// Reads the elements of a view, last dimension fastest.
    pub fn load_all(&mut self, from: &MemRef) -> Result<Vec<Datum>, Trap> {
        let mut elements = Vec::new();
        from.for_each_index(|index| {
            elements.push(self.load(from, index)?);
            Ok(())
        })?;
        Ok(elements)
    }

    /// The elements of a view as somebody outside the program sees them, last dimension fastest.
    pub fn contents(&self, of: &MemRef) -> Result<Vec<Datum>, Trap> {
        let mut elements = Vec::new();
        of.for_each_index(|index| {
            elements.push(self.element(of, of.place(of.address(index)?)?)?);
            Ok(())
        })?;
        Ok(elements)
    }

    /// The buffer of a global, which `init` makes at its first use.
    pub fn global(&mut self, op: Op, init: impl FnOnce(&mut Memory) -> Result<u32, Trap>) -> Result<u32, Trap> {
        if let Some(&buffer) = self.globals.get(&op) {
            return Ok(buffer);
        }
        // Its first use makes it only here: it was there before.
        let parallel = std::mem::take(&mut self.parallel);
        let buffer = init(self);
        self.parallel = parallel;
        let buffer = buffer?;
        self.globals.insert(op, buffer);
        Ok(buffer)
    }
}

/// The element that bytes make; poison if one of them is.
fn join(dtype: DType, bytes: &[Datum]) -> Result<Datum, Trap> {
    if bytes.contains(&Datum::Poison) {
        return Ok(Datum::Poison);
    }
    let raw: Result<Vec<u8>, Trap> = bytes.iter().map(|b| b.int().map(|v| v as u8)).collect();
    let element = Tensor::new(dtype, vec![1], raw?.into())?;
    if dtype.is_float() {
        return Ok(Datum::Float(element.to_f64()[0]));
    }
    let value = element.to_i64().and_then(|v| v.first().copied()).unwrap_or(0);
    // One bit is its own sign.
    Ok(Datum::Int(if dtype == DType::Bool { -value } else { value }))
}

/// The bytes of an element.
fn cut(dtype: DType, value: &Datum) -> Result<Vec<Datum>, Trap> {
    if *value == Datum::Poison {
        return Ok(vec![Datum::Poison; dtype.size()]);
    }
    let element = if dtype.is_float() {
        floats_to_tensor(dtype, &[1], vec![value.float()?])
    } else {
        ints_to_tensor(dtype, &[1], &[value.int()?])
    };
    Ok(element.bytes().iter().map(|&b| Datum::Int(i64::from(b as i8))).collect())
}

/// How many elements a buffer must have for a view of those sizes by that layout.
fn span(sizes: &[i64], layout: &StridedLayout) -> Result<i64, Trap> {
    if sizes.iter().any(|&n| n < 0) {
        return Err(Trap::Ub("an allocation of negative size".into()));
    }
    if layout.offset < 0 || layout.strides.iter().any(|&s| s < 0) {
        return Err(Trap::unsupported("an allocation with elements before its beginning"));
    }
    if sizes.contains(&0) {
        return Ok(0);
    }
    let mut last = Some(layout.offset);
    for (size, stride) in sizes.iter().zip(&layout.strides) {
        last = (size - 1).checked_mul(*stride).and_then(|n| n.checked_add(last?));
    }
    last.and_then(|n| n.checked_add(1)).ok_or_else(|| Trap::unsupported("memory of that size"))
}

fn use_after_free() -> Trap {
    Trap::Ub("memory is used that is not allocated any more".into())
}
