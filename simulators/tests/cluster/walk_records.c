/* Reads the binary of a program of clusters, relocates the records of each cluster, and walks them as the clusters do. A function prints
 * its argument in place of computing with it, as a line of the assembler's text; floats are bits.
 *
 *   walk_records FILE BASE
 *
 * BASE is the address at which the program's DDR begins.
 * Format: see simulators/src/binary.rs and simulators/src/cluster/words.rs. The machine is little-endian.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 40, AFTER_CLUSTERS = 3, STAGES = 6 };

struct record { uint32_t length, function; };

static const uint32_t *next, *end; /* The fields of the record's argument that are not yet read. */
static const char *separator;

static void fail(const char *why) {
    fprintf(stderr, "walk_records: %s\n", why);
    exit(1);
}

static void check(int holds, const char *rule) {
    if (!holds) fail(rule);
}

static uint32_t take(void) {
    check(next < end, "a field beyond its record");
    return *next++;
}

static void name(const char *text) {
    printf(*text ? "%s%s = " : "%s", separator, text);
    separator = ", ";
}

static void begin(const char *text, const char *bracket) { name(text); fputs(bracket, stdout); separator = ""; }
static void close_with(const char *bracket) { fputs(bracket, stdout); separator = ", "; }
static void number(const char *text) { name(text); printf("%u", take()); }
static void integer(const char *text) { name(text); printf("%d", (int32_t)take()); }
static void real(const char *text) { name(text); printf("0x%08x", take()); }

static uint32_t word(const char *text, uint32_t count, const char *const *words) {
    uint32_t index = take();
    check(index < count, "a value that its field does not have");
    name(text);
    fputs(words[index], stdout);
    return index;
}

#define WORD(text, ...) word(text, sizeof (const char *[]){__VA_ARGS__} / sizeof (char *), (const char *[]){__VA_ARGS__})

static void element(const char *text) { WORD(text, "f32", "f16", "i8", "u8"); }
static void flag(const char *text) { WORD(text, "false", "true"); }
static void numbers(const char *text) { begin(text, "["); number(""); number(""); close_with("]"); }
static void scale(const char *text) { begin(text, "{"); real("scale"); integer("zero"); close_with("}"); }

static void tile(const char *text) {
    static const char *const fields[] = {"offset", "row", "pixel", "channel", "rows", "cols", "channels"};
    begin(text, "{");
    for (int i = 0; i < 7; i++) number(fields[i]);
    element("elem");
    close_with("}");
}

static void box(const char *text) {
    begin(text, "{"); number("offset"); number("row"); number("pixel"); close_with("}");
}

static void transfer(void) {
    begin("transfer", "{"); box("from"); box("to"); number("rows"); number("cols"); number("bytes"); close_with("}");
}

static void window(void) {
    begin("window", "{"); numbers("kernel"); numbers("stride"); numbers("dilation");
    begin("first", "["); integer(""); integer(""); close_with("]"); close_with("}");
}

static void quantized(void) { tile("other"); scale("x"); scale("y"); scale("to"); element("elem"); }

static void stages(void) {
    begin("stages", "[");
    for (int i = 0; i < STAGES && take() == 1; i++) {
        begin("", "{");
        switch (WORD("kind", "requantize", "affine", "add", "mul", "quantized_add", "quantized_mul", "clamp", "leaky", "sigmoid",
                     "hard_sigmoid", "hard_swish", "table", "quantize", "dequantize")) {
        case 0: number("scales"); integer("zero"); element("elem"); break;
        case 1: number("scales"); break;
        case 2: case 3: tile("other"); break;
        case 4: case 5: quantized(); break;
        case 6: real("low"); real("high"); break;
        case 7: real("slope"); break;
        case 9: real("alpha"); real("beta"); break;
        case 11: number("tables"); flag("per_channel"); element("from"); element("to"); break;
        case 12: scale("to"); element("elem"); break;
        case 13: scale("from"); break;
        }
        close_with("}");
    }
    close_with("]");
}

static void fetch(void) { transfer(); number("clusters"); number("event"); }
static void store(void) { transfer(); number("event"); }
static void notify(void) { number("clusters"); number("event"); }
static void wait_for(void) { number("event"); number("count"); }
static void task(void) { number("task"); tile("input"); tile("output"); }
static void map(void) { task(); stages(); }
static void pool(void) { task(); window(); flag("is_max"); number("divisor"); stages(); }
static void lrn(void) { task(); number("before"); number("size"); real("alpha"); real("beta"); real("bias"); }

static void conv(void) {
    task();
    number("weights");
    element("weights_elem");
    if (take()) number("bias"); else { name("bias"); fputs("none", stdout); }
    window();
    number("group_in"); number("group_out"); number("skip"); integer("zero"); integer("weights_zero");
    stages();
}

/* The functions by id, from 1. `ddr`: byte of the argument with a place in DDR, or -1. */
static const struct { const char *name; void (*call)(void); int ddr; } functions[] = {
    {"", NULL, -1}, {"fetch", fetch, 0}, {"store", store, 12}, {"send", fetch, -1}, {"notify", notify, -1}, {"wait", wait_for, -1},
    {"conv", conv, -1}, {"pool", pool, -1}, {"map", map, -1}, {"softmax", task, -1}, {"lrn", lrn, -1},
};

/* Checks the records of a block once, and makes places in DDR addresses. */
static void relocate(unsigned char *block, uint64_t size, uint32_t base) {
    for (uint64_t at = 0; at < size;) {
        struct record *record = (struct record *)(block + at);
        check(size - at >= sizeof *record && record->length % 4 == 0, "a record that is cut off");
        check(record->length >= sizeof *record && record->length <= size - at, "a record that ends beyond its block");
        check(record->function > 0 && record->function < sizeof functions / sizeof *functions, "an unknown function");
        int ddr = functions[record->function].ddr;
        check(ddr < 0 || record->length >= sizeof *record + (unsigned)ddr + 4, "a field beyond its record");
        if (ddr >= 0) ((uint32_t *)(record + 1))[ddr / 4] += base;
        at += record->length;
    }
}

static void walk(unsigned char *block, uint64_t size) {
    for (unsigned char *p = block; p < block + size; p += ((struct record *)p)->length) {
        struct record *record = (struct record *)p;
        next = (uint32_t *)(record + 1);
        end = (uint32_t *)(p + record->length);
        separator = " ";
        fputs(functions[record->function].name, stdout);
        functions[record->function].call();
        check(next == end, "the length of a record is not that of its fields");
        putchar('\n');
    }
}

int main(int argc, char **argv) {
    check(argc == 3, "takes FILE and BASE");
    FILE *file = fopen(argv[1], "rb");
    check(file && fseek(file, 0, SEEK_END) == 0, "the file cannot be opened");
    uint64_t size = (uint64_t)ftell(file), lengths[64];
    unsigned char *bytes = malloc(size + 1);
    rewind(file);
    check(bytes && fread(bytes, 1, size, file) == size, "the file cannot be read");
    check(size >= HEADER && memcmp(bytes, "\x89GRADEV\n", 8) == 0, "no magic number");
    uint32_t version, count;
    memcpy(&version, bytes + 8, 4);
    memcpy(&count, bytes + 12, 4);
    check(version == 2 && memcmp(bytes + 16, "cluster", 8) == 0, "another version or machine");
    check(count > AFTER_CLUSTERS && count <= 64 && size - HEADER >= 8 * (uint64_t)count, "a wrong number of sections");
    memcpy(lengths, bytes + HEADER, 8 * (size_t)count);
    unsigned char *block = bytes + HEADER + 8 * (size_t)count;
    for (uint32_t cluster = 0; cluster < count - AFTER_CLUSTERS; cluster++) {
        check(lengths[cluster] <= (uint64_t)(bytes + size - block), "a section beyond the end");
        printf("cluster %u\n", cluster);
        relocate(block, lengths[cluster], (uint32_t)strtoul(argv[2], NULL, 0));
        walk(block, lengths[cluster]);
        block += lengths[cluster];
    }
    return 0;
}
