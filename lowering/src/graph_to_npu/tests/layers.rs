//! How much of the array the layers of known networks keep busy.

use super::*;

/// Convolutions of published lists of layers (ResNet-18, -50, GoogLeNet, AlexNet, DeepBench, MLPerf): extent of the square image, extent
/// of the kernel, channels, kernels, stride. All numbers of channels and kernels are multiples of 8.
const LAYERS: [[usize; 5]; 97] = [
    [7, 1, 512, 1024, 1],
    [7, 1, 512, 2048, 1],
    [7, 1, 832, 32, 1],
    [7, 1, 832, 48, 1],
    [7, 1, 832, 128, 1],
    [7, 1, 832, 192, 1],
    [7, 1, 832, 256, 1],
    [7, 1, 832, 384, 1],
    [7, 1, 1024, 1024, 1],
    [7, 1, 2048, 512, 1],
    [7, 3, 160, 320, 1],
    [7, 3, 192, 384, 1],
    [7, 3, 512, 512, 1],
    [7, 5, 32, 128, 1],
    [13, 3, 192, 384, 1],
    [13, 3, 256, 256, 1],
    [13, 3, 256, 384, 1],
    [13, 3, 384, 256, 1],
    [13, 3, 384, 384, 1],
    [14, 1, 24, 64, 1],
    [14, 1, 256, 512, 1],
    [14, 1, 256, 512, 2],
    [14, 1, 256, 1024, 1],
    [14, 1, 480, 16, 1],
    [14, 1, 480, 64, 1],
    [14, 1, 480, 96, 1],
    [14, 1, 480, 192, 1],
    [14, 1, 512, 24, 1],
    [14, 1, 512, 32, 1],
    [14, 1, 512, 64, 1],
    [14, 1, 512, 112, 1],
    [14, 1, 512, 128, 1],
    [14, 1, 512, 144, 1],
    [14, 1, 512, 160, 1],
    [14, 1, 512, 512, 1],
    [14, 1, 528, 32, 1],
    [14, 1, 528, 128, 1],
    [14, 1, 528, 160, 1],
    [14, 1, 528, 256, 1],
    [14, 1, 1024, 256, 1],
    [14, 1, 1024, 512, 1],
    [14, 1, 1024, 512, 2],
    [14, 1, 1024, 2048, 1],
    [14, 1, 1024, 2048, 2],
    [14, 3, 96, 208, 1],
    [14, 3, 112, 224, 1],
    [14, 3, 128, 256, 1],
    [14, 3, 144, 288, 1],
    [14, 3, 160, 320, 1],
    [14, 3, 256, 256, 1],
    [14, 3, 256, 512, 2],
    [14, 3, 512, 512, 1],
    [14, 5, 16, 48, 1],
    [14, 5, 24, 64, 1],
    [14, 5, 32, 64, 1],
    [14, 5, 32, 128, 1],
    [19, 3, 256, 256, 1],
    [27, 5, 64, 192, 1],
    [27, 5, 96, 256, 1],
    [28, 1, 128, 256, 1],
    [28, 1, 128, 256, 2],
    [28, 1, 128, 512, 1],
    [28, 1, 192, 16, 1],
    [28, 1, 192, 32, 1],
    [28, 1, 192, 64, 1],
    [28, 1, 192, 96, 1],
    [28, 1, 256, 32, 1],
    [28, 1, 256, 64, 1],
    [28, 1, 256, 128, 1],
    [28, 1, 256, 256, 1],
    [28, 1, 512, 128, 1],
    [28, 1, 512, 256, 1],
    [28, 1, 512, 256, 2],
    [28, 1, 512, 1024, 1],
    [28, 1, 512, 1024, 2],
    [28, 3, 96, 128, 1],
    [28, 3, 128, 128, 1],
    [28, 3, 128, 192, 1],
    [28, 3, 128, 256, 2],
    [28, 3, 256, 256, 1],
    [28, 5, 16, 32, 1],
    [28, 5, 32, 96, 1],
    [56, 1, 64, 64, 1],
    [56, 1, 64, 128, 1],
    [56, 1, 64, 128, 2],
    [56, 1, 64, 256, 1],
    [56, 1, 128, 128, 1],
    [56, 1, 256, 64, 1],
    [56, 1, 256, 128, 1],
    [56, 1, 256, 128, 2],
    [56, 1, 256, 512, 1],
    [56, 1, 256, 512, 2],
    [56, 3, 64, 64, 1],
    [56, 3, 64, 128, 2],
    [56, 3, 64, 192, 1],
    [56, 3, 128, 128, 1],
    [112, 1, 32, 64, 1],
];

/// The layers whose tiles are as small as a row or two, since their operands are in DDR and larger tiles would read more.
const DDR_DECIDES: [[usize; 5]; 3] = [[7, 1, 832, 32, 1], [28, 1, 128, 256, 2], [28, 1, 512, 1024, 2]];

/// Products per cycle in which the array is busy, of the 256 that it can compute.
fn use_of_array([extent, size, channels, kernels, stride]: [usize; 5], is_padded: bool) -> f64 {
    let machine = NpuMachine::default();
    let mut net = Network::default();
    let input = feature(&mut net, [extent, extent, channels], true, Role::Operand(0));
    convolution(&mut net, input, Role::Result(0), (kernels, size, stride, false));
    if is_padded {
        net.pad_rows(&machine);
    }
    let program = compile(&net, &machine).unwrap_or_else(|why| panic!("{extent} {size} {channels} {kernels}: {why}"));
    let counts = Simulator::new(machine).time(&program.instructions).expect("the program is right");
    counts.macs as f64 / (counts.busy(gradus_simulators::npu::Unit::Array) * counts.peak_macs) as f64
}

#[test]
fn known_layers_fill_the_array() {
    let mut low = Vec::new();
    for layer in LAYERS {
        let [dense, skewed] = [false, true].map(|is_skewed| use_of_array(layer, is_skewed));
        assert!(
            skewed >= dense - 0.01,
            "{layer:?}: {dense:.3} of the array with dense rows, {skewed:.3} with skewed ones"
        );
        let least = if DDR_DECIDES.contains(&layer) { 0.78 } else { 0.8 };
        if skewed < least {
            low.push((layer, dense, skewed));
        }
    }
    assert!(low.is_empty(), "less of the array than it should be: {low:?}");
}
