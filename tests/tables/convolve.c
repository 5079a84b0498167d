/* Maps a file of address tables, which another process wrote, and computes a convolution through one of them.
 *
 *   convolve TABLES NUMBER IMAGE FILTERS RESULT
 *
 * IMAGE, FILTERS and RESULT have f32 in row-major order of batch, channels and image, and of filters, channels and window.
 * The image has the sizes that the table declares: with its padding, if that is part of the buffer.
 * Format: see runtime/src/table_file.rs. The machine is little-endian.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 72, ENTRY = 24, RECORD = 384, ABSOLUTE = 0, RUNNING = 1 };

struct window { int64_t outputs, taps, stride, dilation, start; };

struct record {
    char name[64], layout[32], element[16];
    uint32_t op, kind, order, encoding, groups, num_sizes, num_windows, run;
    uint64_t elements, rows, depth;
    uint32_t base, relative;
    int64_t sizes[5];
    struct window windows[3];
    char zeros[48];
};

static const unsigned char *file;
static uint64_t file_size;

static void fail(const char *why) {
    fprintf(stderr, "convolve: %s\n", why);
    exit(1);
}

static void check(int holds, const char *rule) {
    if (!holds) fail(rule);
}

static uint32_t word(uint64_t at) {
    uint32_t value;
    memcpy(&value, file + at, sizeof value);
    return value;
}

static uint64_t word8(uint64_t at) {
    uint64_t value;
    memcpy(&value, file + at, sizeof value);
    return value;
}

static uint32_t crc32(const unsigned char *bytes, uint64_t count) {
    uint32_t crc = 0xFFFFFFFFu;
    for (uint64_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0xEDB88320u & -(crc & 1));
    }
    return ~crc;
}

/* Maps a file and checks its header. */
static void map(const char *path) {
    struct stat status;
    int descriptor = open(path, O_RDONLY);
    check(descriptor >= 0 && fstat(descriptor, &status) == 0, "the file cannot be opened");
    file_size = (uint64_t)status.st_size;
    file = mmap(NULL, file_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    check(file != MAP_FAILED, "the file cannot be mapped");
    check(file_size >= HEADER && memcmp(file, "\x89GRADUS\n", 8) == 0, "no magic number");
    check(word(8) == 2 && word(28) == 1, "another version");
    check(strncmp((const char *)file + 40, "address tables", 32) == 0, "no address tables");
    check(word8(16) == file_size && word(12) > 0 && word(12) <= (file_size - HEADER) / ENTRY, "wrong sizes");
    check(crc32(file + 28, HEADER - 28 + (uint64_t)word(12) * ENTRY) == word(24), "wrong checksum of the header");
}

/* Returns a section after checking it. */
static const void *section(uint32_t number, uint64_t *bytes) {
    check(number < word(12), "no such section");
    uint64_t entry = HEADER + (uint64_t)number * ENTRY, at = word8(entry);
    *bytes = word8(entry + 8);
    check(at % 64 == 0 && at <= file_size && *bytes <= file_size - at, "a section is outside the file");
    check(crc32(file + at, *bytes) == word(entry + 16), "wrong checksum of a section");
    return file + at;
}

static const int32_t *list(uint32_t number, uint64_t count) {
    uint64_t bytes;
    const int32_t *numbers = section(number, &bytes);
    check(number > 0 && bytes == 4 * count, "a list has another length");
    return numbers;
}

static float *read_floats(const char *path, uint64_t count) {
    float *values = malloc(4 * count + 1);
    FILE *from = fopen(path, "rb");
    check(values && from && fread(values, 4, count + 1, from) == count, "a file of numbers has another length");
    fclose(from);
    return values;
}

/* Returns the offset of an element in a layout such as NCHW4c: of letters for the axes, and tiles of them. */
static uint64_t offset(const struct record *t, const char *letters, const int64_t *index) {
    struct { char axis; int64_t tile; } levels[32];
    int count = 0;
    for (const char *c = t->layout; c < t->layout + sizeof t->layout && *c; count++) {
        int64_t tile = 0;
        while (*c >= '0' && *c <= '9') tile = 10 * tile + (*c++ - '0');
        levels[count].tile = tile;
        levels[count].axis = (char)(tile ? *c++ - 'a' + 'A' : *c++);
    }
    int64_t rest[5], left[5];
    for (uint32_t i = 0; i < t->num_sizes; i++) rest[i] = index[i], left[i] = 1;
    for (int i = 0; i < count; i++)
        if (levels[i].tile) left[strchr(letters, levels[i].axis) - letters] *= levels[i].tile;
    int64_t digits[32], extents[32];
    for (int i = count - 1; i >= 0; i--) { /* Tiles first, inner ones before outer ones. */
        long axis = strchr(letters, levels[i].axis) - letters;
        if (!levels[i].tile) continue;
        extents[i] = levels[i].tile;
        digits[i] = rest[axis] % levels[i].tile;
        rest[axis] /= levels[i].tile;
    }
    uint64_t at = 0;
    for (int i = 0; i < count; i++) {
        long axis = strchr(letters, levels[i].axis) - letters;
        if (!levels[i].tile) {
            extents[i] = (t->sizes[axis] + left[axis] - 1) / left[axis];
            digits[i] = rest[axis];
        }
        at = at * (uint64_t)extents[i] + (uint64_t)digits[i];
    }
    return at;
}

/* Returns the image in the layout of the table. */
static float *packed(const struct record *t, const float *image) {
    static const char *letters[] = {"", "", "NC", "NCW", "NCHW", "NCDHW"};
    float *buffer = calloc(t->elements + 1, 4);
    int64_t index[5] = {0}, count = 1;
    for (uint32_t i = 0; i < t->num_sizes; i++) count *= t->sizes[i];
    for (int64_t i = 0; i < count; i++) {
        uint64_t to = offset(t, letters[t->num_sizes], index);
        check(to < t->elements, "the layout is larger than the buffer");
        buffer[to] = image[i];
        for (int axis = (int)t->num_sizes - 1; axis >= 0 && ++index[axis] == t->sizes[axis]; axis--) index[axis] = 0;
    }
    return buffer;
}

/* Writes the addresses of a row, or -1 for padding, by adding a base, or difference after difference. */
static void addresses(const struct record *t, const int32_t *base, const int32_t *relative, uint64_t row, int64_t *to) {
    int64_t at = base[row];
    for (uint64_t k = 0; k < t->depth; k++) {
        if (!relative) {
            int64_t start = base[row * (t->depth / t->run) + k / t->run];
            to[k] = start < 0 ? -1 : start + (int64_t)(k % t->run);
        } else if (t->encoding == RUNNING) {
            to[k] = at += relative[k];
        } else {
            to[k] = base[row] + (int64_t)relative[k];
        }
        check(to[k] < (int64_t)t->elements && (to[k] >= 0 || !relative), "an address is outside the buffer");
    }
}

int main(int argc, char **argv) {
    check(argc == 6, "usage: convolve TABLES NUMBER IMAGE FILTERS RESULT");
    map(argv[1]);
    uint64_t bytes, number = strtoull(argv[2], NULL, 10);
    const struct record *all = section(0, &bytes), *t = all + number;
    check(sizeof *t == RECORD && bytes % RECORD == 0 && number < bytes / RECORD, "no such table");
    check(t->op <= 1 && t->kind == 0 && strcmp(t->element, "f32") == 0, "not a convolution of f32");
    check(t->num_sizes >= 2 && t->num_sizes <= 5 && t->num_windows + 2 == t->num_sizes, "no image");
    check(t->groups > 0 && t->run > 0 && t->depth % t->run == 0, "wrong extents");
    const int32_t *relative = t->relative ? list(t->relative, t->depth) : NULL;
    const int32_t *base = list(t->base, relative ? t->rows : t->rows * (t->depth / t->run));

    int64_t pixels = 1, taps = 1, count = 1, channels = t->sizes[1] / t->groups, batch = t->sizes[0];
    for (uint32_t i = 0; i < t->num_windows; i++) pixels *= t->windows[i].outputs, taps *= t->windows[i].taps;
    for (uint32_t i = 0; i < t->num_sizes; i++) count *= t->sizes[i];
    check((uint64_t)(batch * pixels * t->groups) == t->rows && (uint64_t)(channels * taps) == t->depth, "wrong geometry");
    struct stat status;
    check(stat(argv[4], &status) == 0, "the filters cannot be read");
    int64_t filters = status.st_size / 4 / (channels * taps), each = filters / t->groups;
    float *image = read_floats(argv[3], (uint64_t)count);
    float *weights = read_floats(argv[4], (uint64_t)(filters * channels * taps));
    float *a = packed(t, image), *result = calloc((size_t)(batch * filters * pixels), 4);
    int64_t *at = malloc(8 * t->depth + 8);

    for (uint64_t row = 0; row < t->rows; row++) {
        uint64_t group = row / (t->rows / t->groups), pixel = row % (t->rows / t->groups);
        addresses(t, base, relative, row, at);
        for (int64_t n = 0; n < each; n++) {
            int64_t filter = (int64_t)group * each + n;
            float sum = 0;
            for (uint64_t k = 0; k < t->depth; k++) {
                int64_t c = t->order ? (int64_t)k % channels : (int64_t)k / taps;
                int64_t tap = t->order ? (int64_t)k / channels : (int64_t)k % taps;
                if (at[k] >= 0) sum += a[at[k]] * weights[(filter * channels + c) * taps + tap];
            }
            result[((int64_t)pixel / pixels * filters + filter) * pixels + (int64_t)pixel % pixels] = sum;
        }
    }
    FILE *to = fopen(argv[5], "wb");
    check(to && fwrite(result, 4, (size_t)(batch * filters * pixels), to) == (size_t)(batch * filters * pixels)
          && fclose(to) == 0, "the result cannot be written");
    return 0;
}
