//! The memory of an interpreted program.

use crate::context::Context;
use crate::intern::Type;
use crate::module::Op;
use crate::symbols::SymbolTables;
use crate::values::byte_buffer::ByteBuffer;
use crate::values::datum::Datum;
use crate::values::layout::StridedLayout;
pub use crate::values::memref::{ByteView, MemRef};
use crate::values::memref::{MAX_ELEMENTS, outside};
use crate::values::numbers::{floats_to_tensor, ints_to_tensor};
use crate::values::races::{AccessKind, ParallelLoop};
use crate::values::tensor::{DType, Tensor};
use crate::values::trap::Trap;
use bytes::Bytes;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;

/// The storage class of a buffer: its lifetime and whether it is writable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    /// Heap: live until it is freed.
    Heap,
    /// Stack: live until its allocation scope ends.
    Stack,
    /// Writable global: live for the whole execution.
    Global,
    /// Constant global: live for the whole execution and read-only.
    Constant,
}

struct Buffer {
    elements: Elements,
    storage: Storage,
}

/// The elements of a buffer.
enum Elements {
    /// Values of any type.
    Values(Vec<Datum>),
    /// Elements of the type `i8`, which may be viewed as others.
    Bytes(ByteBuffer),
}

impl Elements {
    fn len(&self) -> usize {
        match self {
            Elements::Values(values) => values.len(),
            Elements::Bytes(bytes) => bytes.len(),
        }
    }
}

/// Buffers, by number. Uninitialized elements are poison.
pub struct Memory {
    buffers: Vec<Option<Buffer>>,
    /// The stack buffers of open allocation scopes, outermost first.
    stack: Vec<u32>,
    globals: FxHashMap<Op, u32>,
    elements: usize,
    /// The parallel loops under execution, innermost last.
    parallel: Vec<ParallelLoop>,
    /// Whether the current accesses are atomic.
    atomic: bool,
    /// Values that ops under execution provide to the ops in their regions, such as masks; innermost last. The op that
    /// pushes an entry pops it.
    pub around: Vec<Vec<Datum>>,
    /// The module's symbol tables, for references to globals.
    pub symbols: SymbolTables,
    /// Maximum number of live elements.
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
    /// Discards all state except the symbols and the limit.
    pub fn reset(&mut self) {
        let symbols = std::mem::take(&mut self.symbols);
        *self = Memory { symbols, limit: self.limit, ..Memory::default() };
    }

    /// Allocates a heap buffer with every element `init`.
    pub fn alloc(&mut self, elements: i64, init: Datum) -> Result<u32, Trap> {
        let n = usize::try_from(elements).map_err(|_| Trap::Ub("an allocation of negative size".into()))?;
        self.check_room(n)?;
        self.insert(vec![init; n], Storage::Heap)
    }

    /// Allocates a buffer with these elements.
    pub fn insert(&mut self, elements: Vec<Datum>, storage: Storage) -> Result<u32, Trap> {
        self.add(Elements::Values(elements), storage)
    }

    fn add(&mut self, elements: Elements, storage: Storage) -> Result<u32, Trap> {
        self.check_room(elements.len())?;
        self.elements += elements.len();
        self.buffers.push(Some(Buffer { elements, storage }));
        let number = self.buffers.len() as u32 - 1;
        if storage == Storage::Stack {
            self.stack.push(number);
        }
        Ok(number)
    }

    /// Allocates an uninitialized buffer for a memref of type `ty` and returns the view of it: `sizes` in all
    /// dimensions, and the symbols of the layout. A layout that is not strided is replaced by row-major: accesses stay
    /// distinct, but strides differ.
    pub fn alloc_memref(
        &mut self,
        ctx: &Context,
        ty: Type,
        sizes: &[i64],
        symbols: &[i64],
        storage: Storage,
    ) -> Result<MemRef, Trap> {
        let layout = ctx.layout_of_sizes(ty, sizes, symbols).unwrap_or_else(|| StridedLayout::row_major(sizes));
        let n = usize::try_from(span(sizes, &layout)?).map_err(|_| Trap::unknown("memory of that size"))?;
        self.check_room(n)?;
        let is_bytes = ctx.dtype(ctx.element_type(ty)) == Some(DType::I8);
        let elements =
            if is_bytes { Elements::Bytes(ByteBuffer::poison(n)) } else { Elements::Values(vec![Datum::Poison; n]) };
        let buffer = self.add(elements, storage)?;
        Ok(MemRef::strided(buffer, sizes, layout))
    }

    fn check_room(&self, more: usize) -> Result<(), Trap> {
        match self.elements.checked_add(more).is_some_and(|n| n <= self.limit) {
            true => Ok(()),
            false => Err(Trap::unknown(format!("more than {} elements of memory", self.limit))),
        }
    }

    /// Frees a heap buffer. Later accesses are undefined behavior.
    pub fn free(&mut self, buffer: u32) -> Result<(), Trap> {
        self.parallel.iter().try_for_each(|running| running.note_end(buffer))?;
        let slot = self.buffers.get_mut(buffer as usize);
        let freed = slot.and_then(|slot| slot.take_if(|b| b.storage == Storage::Heap));
        let freed = freed.ok_or_else(|| Trap::Ub("memory is freed that is not allocated".into()))?;
        self.elements -= freed.elements.len();
        Ok(())
    }

    /// Returns the number of stack buffers: the start of a new allocation scope.
    pub fn scope(&self) -> usize {
        self.stack.len()
    }

    /// Frees the stack buffers of an allocation scope.
    pub fn leave(&mut self, scope: usize) {
        for buffer in self.stack.drain(scope.min(self.stack.len())..) {
            let freed = self.buffers.get_mut(buffer as usize).and_then(Option::take);
            self.elements -= freed.map_or(0, |b| b.elements.len());
        }
    }

    fn live(&self, buffer: u32) -> Result<&Buffer, Trap> {
        self.buffers.get(buffer as usize).and_then(Option::as_ref).ok_or_else(use_after_free)
    }

    fn writable(&mut self, buffer: u32) -> Result<&mut Elements, Trap> {
        let live = self.buffers.get_mut(buffer as usize).and_then(Option::as_mut).ok_or_else(use_after_free)?;
        if live.storage == Storage::Constant {
            return Err(Trap::Ub("a constant is written".into()));
        }
        Ok(&mut live.elements)
    }

    /// Returns the elements of a live buffer.
    pub fn elements(&self, buffer: u32) -> Result<Vec<Datum>, Trap> {
        match &self.live(buffer)?.elements {
            Elements::Values(values) => Ok(values.clone()),
            Elements::Bytes(bytes) => elements_of_bytes(bytes),
        }
    }

    /// Removes a buffer and returns its elements; `None` if it is not live.
    pub fn take(&mut self, buffer: u32) -> Option<Vec<Datum>> {
        let freed = self.buffers.get_mut(buffer as usize)?.take()?;
        self.elements -= freed.elements.len();
        match freed.elements {
            Elements::Values(values) => Some(values),
            Elements::Bytes(bytes) => elements_of_bytes(&bytes).ok(),
        }
    }

    /// Overwrites the elements of a live buffer from the first on.
    pub fn overwrite(&mut self, buffer: u32, elements: &[Datum]) -> Result<(), Trap> {
        match self.writable(buffer)? {
            Elements::Values(values) => {
                values.get_mut(..elements.len()).ok_or_else(outside)?.clone_from_slice(elements);
                Ok(())
            }
            Elements::Bytes(bytes) => {
                let set = |(at, value)| set_byte_element(bytes, at..at + 1, DType::I8, value);
                elements.iter().enumerate().try_for_each(set)
            }
        }
    }

    /// Returns the bytes of a live byte buffer, where accesses need not be recorded.
    pub(crate) fn byte_buffer(&self, buffer: u32) -> Option<&ByteBuffer> {
        match &self.live(buffer).ok()?.elements {
            Elements::Bytes(bytes) if self.parallel.is_empty() => Some(bytes),
            _ => None,
        }
    }

    /// Returns the bytes of a live, writable byte buffer, where accesses need not be recorded.
    pub(crate) fn byte_buffer_mut(&mut self, buffer: u32) -> Option<&mut ByteBuffer> {
        let is_recorded = !self.parallel.is_empty();
        match self.writable(buffer).ok()? {
            Elements::Bytes(bytes) if !is_recorded => Some(bytes),
            _ => None,
        }
    }

    /// Whether a buffer is read-only.
    pub fn is_constant(&self, buffer: u32) -> bool {
        let live = self.buffers.get(buffer as usize).and_then(Option::as_ref);
        live.is_some_and(|b| b.storage == Storage::Constant)
    }

    /// Makes a live buffer read-only.
    pub fn freeze(&mut self, buffer: u32) -> Result<(), Trap> {
        let live = self.buffers.get_mut(buffer as usize).and_then(Option::as_mut).ok_or_else(use_after_free)?;
        live.storage = Storage::Constant;
        Ok(())
    }

    /// Returns the numbers of the heap buffers that are not freed.
    pub fn heap(&self) -> impl Iterator<Item = u32> + '_ {
        let live = |buffer: &Option<Buffer>| buffer.as_ref().is_some_and(|b| b.storage == Storage::Heap);
        (0..).zip(&self.buffers).filter(move |(_, buffer)| live(buffer)).map(|(number, _)| number)
    }

    /// Enters a parallel loop.
    pub fn enter_parallel(&mut self) {
        self.parallel.push(ParallelLoop::new(self.buffers.len() as u32));
    }

    /// Starts an iteration of the innermost parallel loop.
    pub fn next_iteration(&mut self) {
        self.parallel.last_mut().expect("a parallel loop is executed").next_iteration();
    }

    /// Leaves the innermost parallel loop.
    pub fn leave_parallel(&mut self) {
        self.parallel.pop();
    }

    /// Runs `f` with atomic accesses, which do not race with other atomic accesses.
    pub fn atomically<T>(&mut self, f: impl FnOnce(&mut Memory) -> T) -> T {
        let outer = std::mem::replace(&mut self.atomic, true);
        let result = f(self);
        self.atomic = outer;
        result
    }

    /// Records accesses for race detection.
    #[cold]
    fn note(&mut self, buffer: u32, elements: Range<usize>, touch: AccessKind) -> Result<(), Trap> {
        let touch = if self.atomic { AccessKind::Atomic } else { touch };
        let live = self.buffers.get(buffer as usize).and_then(Option::as_ref);
        let global = live.is_some_and(|b| matches!(b.storage, Storage::Global | Storage::Constant));
        for running in self.parallel.iter_mut().filter(|running| global || running.shares(buffer)) {
            elements.clone().try_for_each(|element| running.note(buffer, element, touch))?;
        }
        Ok(())
    }

    /// Returns the range of buffer elements behind the element at an address of a view, and records the access.
    fn place(&mut self, of: &MemRef, address: i64, touch: AccessKind) -> Result<Range<usize>, Trap> {
        let range = of.place(address)?;
        if !self.parallel.is_empty() && range.end <= self.live(of.buffer)?.elements.len() {
            self.note(of.buffer, range.clone(), touch)?;
        }
        Ok(range)
    }

    /// Loads the element at `indices`.
    pub fn load(&mut self, from: &MemRef, indices: &[i64]) -> Result<Datum, Trap> {
        self.load_at(from, from.address(indices)?)
    }

    /// Loads the element at an address of the view.
    pub fn load_at(&mut self, from: &MemRef, address: i64) -> Result<Datum, Trap> {
        let place = self.place(from, address, AccessKind::Read)?;
        self.element(from, place)
    }

    /// Decodes the element in a range of the buffer.
    fn element(&self, from: &MemRef, place: Range<usize>) -> Result<Datum, Trap> {
        match (&self.live(from.buffer)?.elements, from.bytes) {
            (Elements::Values(values), view) => match (values.get(place).ok_or_else(outside)?, view) {
                (bytes, Some(view)) => join(view.dtype, bytes),
                (elements, None) => Ok(elements[0].clone()),
            },
            (Elements::Bytes(bytes), view) => byte_element(bytes, place, view.map_or(DType::I8, |view| view.dtype)),
        }
    }

    /// Stores to the element at `indices`.
    pub fn store(&mut self, value: Datum, to: &MemRef, indices: &[i64]) -> Result<(), Trap> {
        self.store_at(value, to, to.address(indices)?)
    }

    /// Stores to the element at an address of the view.
    pub fn store_at(&mut self, value: Datum, to: &MemRef, address: i64) -> Result<(), Trap> {
        let place = self.place(to, address, AccessKind::Write)?;
        match (self.writable(to.buffer)?, to.bytes) {
            (Elements::Values(values), view) => {
                let elements = values.get_mut(place).ok_or_else(outside)?;
                match view {
                    Some(view) => elements.clone_from_slice(&cut(view.dtype, &value)?),
                    None => elements[0] = value,
                }
                Ok(())
            }
            (Elements::Bytes(bytes), view) => {
                set_byte_element(bytes, place, view.map_or(DType::I8, |view| view.dtype), &value)
            }
        }
    }

    /// Loads the element at `indices` as it is stored: its bytes, which as a number a NaN would not keep, or a single value.
    pub(crate) fn load_bits(&mut self, from: &MemRef, indices: &[i64]) -> Result<Vec<Datum>, Trap> {
        let place = self.place(from, from.address(indices)?, AccessKind::Read)?;
        match &self.live(from.buffer)?.elements {
            Elements::Values(values) => Ok(values.get(place).ok_or_else(outside)?.to_vec()),
            Elements::Bytes(bytes) => place.map(|at| byte_element(bytes, at..at + 1, DType::I8)).collect(),
        }
    }

    /// Stores to the element at `indices` what [`load_bits`](Memory::load_bits) returned for one of the same type.
    pub(crate) fn store_bits(&mut self, bits: &[Datum], to: &MemRef, indices: &[i64]) -> Result<(), Trap> {
        let place = self.place(to, to.address(indices)?, AccessKind::Write)?;
        match self.writable(to.buffer)? {
            Elements::Values(values) => {
                let elements = values.get_mut(place).filter(|all| all.len() == bits.len()).ok_or_else(outside)?;
                elements.clone_from_slice(bits);
                Ok(())
            }
            Elements::Bytes(bytes) => {
                let mut all = place.zip(bits);
                all.try_for_each(|(at, value)| set_byte_element(bytes, at..at + 1, DType::I8, value))
            }
        }
    }

    /// Loads all elements of a view in row-major order.
    pub fn load_all(&mut self, from: &MemRef) -> Result<Vec<Datum>, Trap> {
        let mut elements = Vec::new();
        from.for_each_index(|index| {
            elements.push(self.load(from, index)?);
            Ok(())
        })?;
        Ok(elements)
    }

    /// Returns the elements of a view in row-major order, without recording accesses.
    pub fn contents(&self, of: &MemRef) -> Result<Vec<Datum>, Trap> {
        let mut elements = Vec::new();
        of.for_each_index(|index| {
            elements.push(self.element(of, of.place(of.address(index)?)?)?);
            Ok(())
        })?;
        Ok(elements)
    }

    /// Returns the buffer of a global, which `init` creates at the first use.
    pub fn global(&mut self, op: Op, init: impl FnOnce(&mut Memory) -> Result<u32, Trap>) -> Result<u32, Trap> {
        if let Some(&buffer) = self.globals.get(&op) {
            return Ok(buffer);
        }
        // The global existed before the loop: its creation here must not count as a write of the current iteration.
        let parallel = std::mem::take(&mut self.parallel);
        let buffer = init(self);
        self.parallel = parallel;
        let buffer = buffer?;
        self.globals.insert(op, buffer);
        Ok(buffer)
    }
}

/// Loads an element from a range of a byte buffer; poison if any byte is.
fn byte_element(bytes: &ByteBuffer, place: Range<usize>, dtype: DType) -> Result<Datum, Trap> {
    bytes.get(place).ok_or_else(outside)?.map_or(Ok(Datum::Poison), |raw| decode(dtype, raw))
}

/// Loads all elements of a byte buffer.
fn elements_of_bytes(bytes: &ByteBuffer) -> Result<Vec<Datum>, Trap> {
    (0..bytes.len()).map(|at| byte_element(bytes, at..at + 1, DType::I8)).collect()
}

/// Stores an element to a range of a byte buffer.
fn set_byte_element(bytes: &mut ByteBuffer, place: Range<usize>, dtype: DType, value: &Datum) -> Result<(), Trap> {
    let raw = encode(dtype, value)?;
    bytes.set(place, raw.as_deref()).ok_or_else(outside)
}

/// Decodes an element from values of bytes; poison if any byte is.
fn join(dtype: DType, bytes: &[Datum]) -> Result<Datum, Trap> {
    if bytes.contains(&Datum::Poison) {
        return Ok(Datum::Poison);
    }
    let raw: Result<SmallVec<[u8; 8]>, Trap> = bytes.iter().map(|b| b.int().map(|v| v as u8)).collect();
    decode(dtype, &raw?)
}

/// Decodes an element.
fn decode(dtype: DType, raw: &[u8]) -> Result<Datum, Trap> {
    if dtype == DType::I8 && raw.len() == 1 {
        return Ok(Datum::Int(i64::from(raw[0] as i8)));
    }
    let element = Tensor::new(dtype, vec![1], raw.to_vec().into())?;
    if dtype.is_float() {
        return Ok(Datum::Float(element.to_f64()[0]));
    }
    let value = element.to_i64().and_then(|v| v.first().copied()).unwrap_or(0);
    // An `i1` is sign-extended.
    Ok(Datum::Int(if dtype == DType::Bool { -value } else { value }))
}

/// Encodes an element as values of bytes.
fn cut(dtype: DType, value: &Datum) -> Result<Vec<Datum>, Trap> {
    Ok(match encode(dtype, value)? {
        Some(raw) => raw.iter().map(|&b| Datum::Int(i64::from(b as i8))).collect(),
        None => vec![Datum::Poison; dtype.size()],
    })
}

/// Encodes an element; `None` for poison.
fn encode(dtype: DType, value: &Datum) -> Result<Option<Bytes>, Trap> {
    if *value == Datum::Poison {
        return Ok(None);
    }
    let element = if dtype.is_float() {
        floats_to_tensor(dtype, &[1], vec![value.float()?])
    } else {
        ints_to_tensor(dtype, &[1], &[value.int()?])
    };
    Ok(Some(element.bytes().clone()))
}

/// Returns the number of buffer elements that a view of these sizes and layout spans.
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
    last.and_then(|n| n.checked_add(1)).ok_or_else(|| Trap::unknown("memory of that size"))
}

fn use_after_free() -> Trap {
    Trap::Ub("memory is used that is not allocated any more".into())
}
