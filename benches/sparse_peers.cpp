// The peers of generated code for products with a sparse constant, on one thread: MKL (dense, packed and sparse), OpenBLAS, Eigen and
// LIBXSMM's `fsspmdm`. benches/sparse_products.py compiles and starts it.
//
//   sparse_peers MKL OPENBLAS MATRICES REPEAT
//
// Libraries are paths or "-". A matrix is an `int32` header `bytes per element, M, K, N` and `M * K` elements. For each matrix there is a
// line per peer: index, name, median microseconds, and the largest difference from the first peer's result.
#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>
#ifdef WITH_LIBXSMM
#include <libxsmm.h>
#endif

using Clock = std::chrono::steady_clock;

enum { ROW_MAJOR = 101, PLAIN = 111, PACKED = 151, FIRST = 161 };
struct Description { int type = 20, mode = 0, diagonal = 0; };

template <class F> F *symbol(void *library, const char *name) {
  return library ? reinterpret_cast<F *>(dlsym(library, name)) : nullptr;
}

// Elements that begin at a cache line.
template <class T> struct Aligned {
  std::unique_ptr<T, decltype(&free)> data;
  size_t size;
  explicit Aligned(size_t size)
      : data(static_cast<T *>(aligned_alloc(64, (size * sizeof(T) / 64 + 1) * 64)), free), size(size) {
    std::fill(begin(), begin() + size, T(0));
  }
  T *begin() { return data.get(); }
};

static double timed(const std::function<void()> &call, int repeat) {
  auto once = [&] {
    auto start = Clock::now();
    call();
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  };
  auto begin = Clock::now();
  do once(); while (Clock::now() - begin < std::chrono::milliseconds(20));
  std::vector<double> times(repeat);
  for (auto &time : times) time = once();
  std::nth_element(times.begin(), times.begin() + repeat / 2, times.end());
  return times[repeat / 2];
}

template <class T> struct Product {
  int m, k, n;
  Aligned<T> a, b, c;
  std::vector<int> starts, columns;
  std::vector<T> values, first;

  Product(int m, int k, int n, FILE *from) : m(m), k(k), n(n), a(size_t(m) * k), b(size_t(k) * n), c(size_t(m) * n) {
    if (fread(a.begin(), sizeof(T), a.size, from) != a.size) exit(2);
    uint32_t state = 1;
    for (size_t i = 0; i < b.size; i++) {
      state = state * 1664525 + 1013904223;
      b.begin()[i] = T(int32_t(state >> 8) - (1 << 23)) / (1 << 23);
    }
    for (int i = 0; i < m; i++) {
      starts.push_back(values.size());
      for (int j = 0; j < k; j++)
        if (T x = a.begin()[size_t(i) * k + j]) values.push_back(x), columns.push_back(j);
    }
    starts.push_back(values.size());
  }

  void report(int index, const char *name, int repeat, const std::function<void()> &call) {
    std::fill(c.begin(), c.begin() + c.size, T(NAN));
    call();
    if (first.empty()) first.assign(c.begin(), c.begin() + c.size);
    double off = 0, most = 0;
    for (size_t i = 0; i < c.size; i++) {
      double d = std::abs(double(c.begin()[i]) - first[i]);
      off = std::isnan(d) ? INFINITY : std::max(off, d), most = std::max(most, std::abs(double(first[i])));
    }
    printf("%d\t%s\t%.3f\t%.1e\n", index, name, timed(call, repeat), most > 0 ? off / most : off);
    fflush(stdout);
  }

  void gemm(int index, const char *name, int repeat, void *library) {
    using Gemm = void(int, int, int, int, int, int, T, const T *, int, const T *, int, T, T *, int);
    auto *gemm = symbol<Gemm>(library, sizeof(T) == 4 ? "cblas_sgemm" : "cblas_dgemm");
    if (!gemm) return;
    report(index, name, repeat,
           [&] { gemm(ROW_MAJOR, PLAIN, PLAIN, m, n, k, 1, a.begin(), k, b.begin(), n, 0, c.begin(), n); });
  }

  void mkl(int index, int repeat, void *library) {
    gemm(index, "mkl", repeat, library);
    const bool is_f32 = sizeof(T) == 4;
    using Size = size_t(int, int, int, int);
    using Pack = void(int, int, int, int, int, int, T, const T *, int, T *);
    using Compute = void(int, int, int, int, int, int, const T *, int, const T *, int, T, T *, int);
    auto *size = symbol<Size>(library, is_f32 ? "cblas_sgemm_pack_get_size" : "cblas_dgemm_pack_get_size");
    auto *pack = symbol<Pack>(library, is_f32 ? "cblas_sgemm_pack" : "cblas_dgemm_pack");
    auto *compute = symbol<Compute>(library, is_f32 ? "cblas_sgemm_compute" : "cblas_dgemm_compute");
    if (size && pack && compute) {
      Aligned<T> packed(size(FIRST, m, n, k) / sizeof(T) + 64);
      pack(ROW_MAJOR, FIRST, PLAIN, m, n, k, 1, a.begin(), k, packed.begin());
      report(index, "mkl_packed", repeat, [&] {
        compute(ROW_MAJOR, PACKED, PLAIN, m, n, k, packed.begin(), k, b.begin(), n, 0, c.begin(), n);
      });
    }
    using Create = int(void **, int, int, int, int *, int *, int *, T *);
    using Hint = int(void *, int, Description, int, int, int);
    using Optimize = int(void *);
    using Multiply = int(int, T, void *, Description, int, const T *, int, int, T, T *, int);
    auto *create = symbol<Create>(library, is_f32 ? "mkl_sparse_s_create_csr" : "mkl_sparse_d_create_csr");
    auto *hint = symbol<Hint>(library, "mkl_sparse_set_mm_hint");
    auto *optimize = symbol<Optimize>(library, "mkl_sparse_optimize");
    auto *multiply = symbol<Multiply>(library, is_f32 ? "mkl_sparse_s_mm" : "mkl_sparse_d_mm");
    void *handle = nullptr;
    if (!create || !multiply) return;
    if (create(&handle, 0, m, k, starts.data(), starts.data() + 1, columns.data(), values.data())) return;
    hint(handle, 10, Description(), ROW_MAJOR, n, 1000000);
    optimize(handle);
    report(index, "mkl_sparse", repeat,
           [&] { multiply(10, 1, handle, Description(), ROW_MAJOR, b.begin(), n, n, 0, c.begin(), n); });
  }

  void eigen(int index, int repeat) {
    using Sparse = Eigen::SparseMatrix<T, Eigen::RowMajor>;
    using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Eigen::Map<const Sparse> sparse(m, k, values.size(), starts.data(), columns.data(), values.data());
    Eigen::Map<const Dense> dense(b.begin(), k, n);
    Eigen::Map<Dense> result(c.begin(), m, n);
    report(index, "eigen_sparse", repeat, [&] { result.noalias() = sparse * dense; });
  }

  // Code for panels of columns into which they divide. LIBXSMM falls back to dense code beyond 128 KiB, for which it takes minutes.
  void xsmm(int index, int repeat) {
#ifdef WITH_LIBXSMM
    for (int panel : {16, 32, 64}) {
      if (n % panel || values.size() > 25000) continue;
      auto execute = [&](auto *handle, auto run, auto destroy) {
        if (!handle) return;
        std::string name = "xsmm" + std::to_string(panel);
        report(index, name.c_str(), repeat, [&] {
          for (int at = 0; at < n; at += panel) run(handle, b.begin() + at, c.begin() + at);
        });
        destroy(handle);
      };
      if constexpr (std::is_same_v<T, float>)
        execute(libxsmm_sfsspmdm_create(m, panel, k, k, n, n, 1, 0, 0, a.begin()), libxsmm_sfsspmdm_execute,
                libxsmm_sfsspmdm_destroy);
      else
        execute(libxsmm_dfsspmdm_create(m, panel, k, k, n, n, 1, 0, 0, a.begin()), libxsmm_dfsspmdm_execute,
                libxsmm_dfsspmdm_destroy);
    }
#else
    (void)index, (void)repeat;
#endif
  }

  void all(int index, int repeat, void *mkl_library, void *openblas) {
    mkl(index, repeat, mkl_library);
    gemm(index, "openblas", repeat, openblas);
    eigen(index, repeat);
    xsmm(index, repeat);
  }
};

int main(int count, char **args) {
  if (count != 5) return 1;
  for (const char *name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"}) setenv(name, "1", 1);
  setenv("MKL_THREADING_LAYER", "SEQUENTIAL", 1);
  auto open = [](const char *path) {
    return std::string(path) == "-" ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  };
  void *mkl = open(args[1]), *openblas = open(args[2]);
  FILE *from = fopen(args[3], "rb");
  int32_t header[4];
  for (int index = 0; from && fread(header, sizeof header, 1, from) == 1; index++) {
    auto [element, m, k, n] = header;
    int repeat = atoi(args[4]);
    if (element == 4) Product<float>(m, k, n, from).all(index, repeat, mkl, openblas);
    else Product<double>(m, k, n, from).all(index, repeat, mkl, openblas);
  }
}
