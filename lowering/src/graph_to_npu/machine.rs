//! The parameters of the machine from its description.

use gradus_simulators::npu::{Interlock, Machine};

/// Reads the parameters of a machine description.
///
/// # Errors
/// A number is missing or out of range.
pub fn machine(description: &gradus_cost::Machine) -> Result<Machine, String> {
    let number = |key: &str| {
        let value = description.value(key).map_err(|e| e.to_string())?;
        u32::try_from(value).map_err(|_| format!("'{key}' is too large"))
    };
    let machine = Machine {
        kernels: number("kernels")?,
        depth: number("depth")?,
        positions: number("positions")?,
        sram_bytes: number("sram_bytes")?,
        banks: number("banks")?,
        word_bytes: number("word_bytes")?,
        accumulators: number("accumulators")?,
        weight_bits: number("weight_bits")?,
        post_width: number("post_width")?,
        post_latency: number("post_latency")?,
        start: number("start")?,
        move_start: number("move_start")?,
        ddr_rate: number("ddr_rate")?,
        read_latency: number("read_latency")?,
        write_latency: number("write_latency")?,
        burst: number("burst")?,
        load_queue: number("load_queue")?,
        store_queue: number("store_queue")?,
        execute_queue: number("execute_queue")?,
        interlock: Interlock::Reject,
    };
    machine.check().map_err(str::to_owned)?;
    Ok(machine)
}
