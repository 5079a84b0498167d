//! Maxima of windows over 8-bit images.

use crate::KernelError;
use crate::vector::{Loops, MultiplyAdd, run_widest};
use crate::workers::Workers;
use gradus_networks::layout::{AddressTable, Addressing, ZERO_PAGE};

/// Windows over an 8-bit image, whose maxima are computed for each channel by itself.
#[derive(Clone, Debug)]
pub struct MaxWindows {
    /// Base of each window position, row by row; [`ZERO_PAGE`] is padding.
    bases: Vec<i32>,
    /// Number of positions per window.
    positions: usize,
    channels: usize,
}

impl MaxWindows {
    /// Compiles a table.
    ///
    /// # Errors
    /// The addresses are not indirect, or windows have no positions.
    pub fn new(of: &AddressTable<'_>) -> Result<MaxWindows, KernelError> {
        match of.addressing() {
            Addressing::Indirect { bases, runs: positions @ 1.., .. } => {
                Ok(MaxWindows { bases: bases.to_vec(), positions: *positions, channels: of.run() })
            }
            _ => Err("windows need indirect addresses of at least one position".into()),
        }
    }

    /// Computes the maxima of all windows, `[rows, channels]`, on several threads if that pays. The maximum of no element is
    /// the least integer.
    ///
    /// # Errors
    /// An address outside the image, or a result of another size.
    pub fn compute(&self, workers: &Workers, image: &[u8], is_signed: bool, out: &mut [u8]) -> Result<(), KernelError> {
        let (rows, channels) = (self.bases.len() / self.positions, self.channels.max(1));
        if rows.checked_mul(self.channels) != Some(out.len()) {
            return Err(format!(
                "a result of {rows} rows and {} channels does not have {} elements",
                self.channels,
                out.len()
            )
            .into());
        }
        let is_inside = |&base: &i32| {
            let has_channels = |base: usize| image.get(base..).is_some_and(|rest| rest.len() >= self.channels);
            base == ZERO_PAGE || usize::try_from(base).is_ok_and(has_channels)
        };
        if !self.bases.iter().all(is_inside) {
            return Err(format!("an address is outside an image of {} elements", image.len()).into());
        }
        let threads = workers.for_steps(self.bases.len().saturating_mul(channels / 64 + 1));
        let part = rows.div_ceil(Workers::parts(threads)).max(1);
        let parts = self.bases.chunks(part * self.positions).zip(out.chunks_mut(part * channels));
        let signed: &[i8] = bytemuck::cast_slice(image);
        workers.share(threads, parts, |(bases, out)| match is_signed {
            true => {
                let out = bytemuck::cast_slice_mut(out);
                run_widest(Maxima { windows: self, bases, image: signed, out, least: i8::MIN });
            }
            false => run_widest(Maxima { windows: self, bases, image, out, least: u8::MIN }),
        });
        Ok(())
    }
}

/// The windows of some rows.
struct Maxima<'a, T> {
    windows: &'a MaxWindows,
    bases: &'a [i32],
    image: &'a [T],
    out: &'a mut [T],
    least: T,
}

impl<T: Copy + Ord> Loops for Maxima<'_, T> {
    #[inline(always)]
    fn run<M: MultiplyAdd>(self) {
        let Maxima { windows: &MaxWindows { positions, channels, .. }, bases, image, out, least } = self;
        for (bases, out) in bases.chunks_exact(positions).zip(out.chunks_exact_mut(channels.max(1))) {
            let mut places =
                bases.iter().filter_map(|&base| usize::try_from(base).ok()).map(|base| &image[base..][..channels]);
            match places.next() {
                Some(first) => out.copy_from_slice(first),
                None => out.fill(least),
            }
            for place in places {
                out.iter_mut().zip(place).for_each(|(most, &x)| *most = (*most).max(x));
            }
        }
    }
}
