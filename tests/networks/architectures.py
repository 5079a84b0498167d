"""The networks: one function each, from a `Network` with the value `image` to the logits."""


def resnet50(n):
    """ResNet-50 v1.5: the stride is in the 3x3 convolution (He et al., 2015)."""
    x = norm_relu(n, conv(n, 'image', n.channels(64), 7, 2))
    x = n.pool('MaxPool', x, pads=(1, 1, 1, 1))
    for stage, blocks in enumerate([3, 4, 6, 3]):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            x = bottleneck(n, x, n.channels(64 << stage), stride, block == 0)
    return n.classify(x)


def squeezenet(n):
    """SqueezeNet 1.1 (Iandola et al., 2016)."""
    x = n.relu(n.conv('image', n.channels(64), 3, 2, pad=0))
    x = n.pool('MaxPool', x)
    for i, squeeze in enumerate([16, 16, 32, 32, 48, 48, 64, 64]):
        x = fire(n, x, n.channels(squeeze), n.channels(4 * squeeze))
        x = n.pool('MaxPool', x) if i in (1, 3) else x
    x = n.relu(n.conv(x, n.channels(1000)))
    return n.flatten(n.global_average(x))


def shufflenet(n):
    """ShuffleNet v2, 1.0x (Ma et al., 2018)."""
    x = norm_relu(n, conv(n, 'image', n.channels(24), 3, 2))
    x = n.pool('MaxPool', x, pads=(1, 1, 1, 1))
    for channels, blocks in [(58, 4), (116, 8), (232, 4)]:
        x = shuffle_reduction(n, x, n.channels(channels))
        for _ in range(blocks - 1):
            left, right = n.halves(x)
            x = n.shuffle(n.concat(left, shuffle_branch(n, right, n.channels(channels), 1)))
    return n.classify(norm_relu(n, conv(n, x, n.channels(1024))))


def densenet121(n):
    """DenseNet-121, whose layers normalize their inputs (Huang et al., 2016)."""
    growth = n.channels(32)
    x = norm_relu(n, conv(n, 'image', n.channels(64), 7, 2))
    x = n.pool('MaxPool', x, pads=(1, 1, 1, 1))
    for block, layers in enumerate([6, 12, 24, 16]):
        for _ in range(layers):
            y = conv(n, norm_relu(n, x), 4 * growth)
            x = n.concat(x, conv(n, norm_relu(n, y), growth, 3, gain=1))
        if block < 3:
            x = conv(n, norm_relu(n, x), n.shapes[x][1] // 2, gain=1)
            x = n.pool('AveragePool', x, kernel=2)
    return n.classify(norm_relu(n, x))


def inception(n):
    """Inception v1, or GoogLeNet, without its auxiliary outputs (Szegedy et al., 2014)."""
    below = (0, 0, 1, 1)
    x = conv_relu(n, 'image', 64, 7, 2)
    x = local_norm(n, n.pool('MaxPool', x, pads=below))
    x = conv_relu(n, conv_relu(n, x, 64), 192, 3)
    x = n.pool('MaxPool', local_norm(n, x), pads=below)
    for module in [(64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64)]:
        x = inception_module(n, x, *module)
    x = n.pool('MaxPool', x, pads=below)
    for module in [(192, 96, 208, 16, 48, 64), (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64),
                   (112, 144, 288, 32, 64, 64), (256, 160, 320, 32, 128, 128)]:
        x = inception_module(n, x, *module)
    x = n.pool('MaxPool', x, pads=below)
    for module in [(256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128)]:
        x = inception_module(n, x, *module)
    x = n.pool('AveragePool', x, kernel=n.shapes[x][2], stride=1)
    return n.linear(n.flatten(x), n.channels(1000))


def mobilenet_v2(n):
    """MobileNet-v2 (Sandler et al., 2018)."""
    x = norm_relu6(n, conv(n, 'image', n.channels(32), 3, 2))
    stages = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, channels, blocks, stride in stages:
        for block in range(blocks):
            x = inverted_residual(n, x, n.channels(channels), expansion, stride if block == 0 else 1)
    return n.classify(norm_relu6(n, conv(n, x, n.channels(1280))))


def mobilenet_v1(n):
    """MobileNet-v1 (Howard et al., 2017)."""
    x = norm_relu(n, conv(n, 'image', n.channels(32), 3, 2))
    for channels, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]:
        x = norm_relu(n, conv(n, x, n.shapes[x][1], 3, stride, groups=n.shapes[x][1]))
        x = norm_relu(n, conv(n, x, n.channels(channels)))
    return n.classify(x)


NETWORKS = {f.__name__: f for f in (resnet50, squeezenet, shufflenet, densenet121, inception, mobilenet_v2, mobilenet_v1)}


def conv(n, *args, **named):
    """A convolution before a normalization, without bias."""
    return n.conv(*args, bias=False, **named)


def norm_relu(n, x):
    return n.relu(n.norm(x))


def norm_relu6(n, x):
    return n.relu6(n.norm(x))


def conv_relu(n, x, filters, kernel=1, stride=1):
    return n.relu(n.conv(x, n.channels(filters), kernel, stride))


def bottleneck(n, x, width, stride, projects):
    """A residual block: 1x1, 3x3 and 1x1 convolutions beside the identity or a projection."""
    y = norm_relu(n, conv(n, x, width))
    y = norm_relu(n, conv(n, y, width, 3, stride))
    y = n.norm(conv(n, y, 4 * width, gain=1), scale=0.5)
    short = n.norm(conv(n, x, 4 * width, 1, stride, gain=1)) if projects else x
    return n.relu(n.add(y, short))


def fire(n, x, squeeze, expand):
    """A fire module: a 1x1 convolution, then 1x1 and 3x3 convolutions side by side."""
    x = n.relu(n.conv(x, squeeze))
    return n.concat(n.relu(n.conv(x, expand)), n.relu(n.conv(x, expand, 3)))


def shuffle_branch(n, x, channels, stride):
    """The 1x1, depthwise and 1x1 convolutions of a shuffle block."""
    x = norm_relu(n, conv(n, x, channels))
    x = n.norm(conv(n, x, channels, 3, stride, groups=channels, gain=1))
    return norm_relu(n, conv(n, x, channels))


def shuffle_reduction(n, x, channels):
    """A shuffle block that halves the extents; both branches read all channels."""
    left = n.norm(conv(n, x, n.shapes[x][1], 3, 2, groups=n.shapes[x][1], gain=1))
    return n.shuffle(n.concat(norm_relu(n, conv(n, left, channels)), shuffle_branch(n, x, channels, 2)))


def local_norm(n, x):
    """A local response normalization over 5 channels."""
    return n.op('LRN', [x], n.shapes[x], size=5, alpha=1e-4, beta=0.75, bias=1.0)


def inception_module(n, x, one, reduce3, three, reduce5, five, pooled):
    """An inception module: 1x1, 3x3, 5x5 and pooled branches side by side."""
    pool = n.pool('MaxPool', x, stride=1, pads=(1, 1, 1, 1))
    return n.concat(conv_relu(n, x, one), conv_relu(n, conv_relu(n, x, reduce3), three, 3),
                    conv_relu(n, conv_relu(n, x, reduce5), five, 5), conv_relu(n, pool, pooled))


def inverted_residual(n, x, channels, expansion, stride):
    """An inverted residual block: expansion, depthwise convolution, linear projection."""
    inputs = n.shapes[x][1]
    y = norm_relu6(n, conv(n, x, expansion * inputs)) if expansion > 1 else x
    y = norm_relu6(n, conv(n, y, n.shapes[y][1], 3, stride, groups=n.shapes[y][1]))
    y = n.norm(conv(n, y, channels, gain=1))
    return n.add(x, y) if stride == 1 and channels == inputs else y
