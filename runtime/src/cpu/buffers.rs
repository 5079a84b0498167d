//! Memory for results that was used before: what nobody reads any more is written again, and need not be cleared by the
//! system.

use gradus_ir::{DType, Tensor};
use std::sync::{Arc, Mutex, PoisonError};

/// So many buffers wait at most.
const MAX_WAITING: usize = 64;

/// Buffers that wait.
#[derive(Clone, Default)]
pub(super) struct Buffers(Arc<Mutex<Vec<Vec<f32>>>>);

impl Buffers {
    /// A buffer of so many numbers, whatever they are: whoever takes it writes all of them.
    pub(super) fn take(&self, len: usize) -> Vec<f32> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |buffer: &Vec<f32>| buffer.capacity() >= len && buffer.capacity() / 2 <= len;
        let best = (0..waiting.len()).filter(|&i| fits(&waiting[i])).min_by_key(|&i| waiting[i].capacity());
        let mut buffer = best.map_or_else(Vec::new, |i| waiting.swap_remove(i));
        drop(waiting);
        buffer.resize(len, 0.0);
        buffer
    }

    /// A tensor whose numbers are in a buffer, which waits again when the tensor goes.
    pub(super) fn tensor(&self, shape: &[usize], buffer: Vec<f32>) -> Result<Tensor, String> {
        let owner = Owner { buffer, home: self.clone() };
        Tensor::new(DType::F32, shape.to_vec(), bytes::Bytes::from_owner(owner))
    }
}

struct Owner {
    buffer: Vec<f32>,
    home: Buffers,
}

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.buffer)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let mut waiting = self.home.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MAX_WAITING {
            waiting.push(std::mem::take(&mut self.buffer));
        }
    }
}
