// Matrix products. All use one loop nest, `multiply`, which sums every element in order of the
// depth. So a result depends on neither the number of rows in the product nor the number of threads.
#pragma once

#include <algorithm>

#include "blocks.h"
#include "simd.h"

namespace ntm::NTM_TARGET {

// Columns are processed in panels of 16. Rows that the kernels own are padded to whole panels.
constexpr Index kPanel = 16;

constexpr Index padded(Index n) { return (n + kPanel - 1) / kPanel * kPanel; }

// The left factor: element (row, k) is data[row * row_stride + k * depth_stride].
template <typename T>
struct Left {
  const T* data;
  Index row_stride, depth_stride;
};

// The right factor: element (k, column) is data[panel * panel_stride + k * depth_stride + column % 16].
// Whole panels are readable.
template <typename T>
struct Right {
  const T* data;
  Index depth_stride, panel_stride;
};

// Rows of a padded row-major matrix, as a right factor.
template <typename T>
Right<T> rows_of(const T* data, Index stride) {
  return {data, stride, kPanel};
}

// A right factor of consecutive panels with `rows` rows each: a product reads it from end to end.
template <typename T>
Right<T> panels_of(const T* data, Index rows) {
  return {data, kPanel, rows * kPanel};
}

// Set one row of such a factor.
template <typename T>
void set_row(T* panels, Index rows, Index row, const T* from, Index width) {
  T* to = panels + row * kPanel;
  for (; width >= kPanel; width -= kPanel, from += kPanel, to += rows * kPanel)
    for (Index i = 0; i < kPanel; i += kLanes<T>) store<T>(to + i, load(from + i));
  std::copy_n(from, width, to);
}

// Return a right factor from depth k on.
template <typename T>
Right<T> depths_from(Right<T> b, Index k) {
  return {b.data + k * b.depth_stride, b.depth_stride, b.panel_stride};
}

// Initial value of the sums: zero, a bias per column, or the present result.
enum class From { zero, bias, result };

// Compute `rows` x `panels` panels of the result in registers, and store `columns` columns. The right factor is passed
// as numbers: the callers advance it from tile to tile, and a struct would go through memory, where the processor
// waits for all earlier stores before it copies a struct whose fields have just been written.
template <typename T, int rows, int panels>
__attribute__((noinline)) void multiply_tile(T* result, Index stride, const Left<T>& left, const T* right,
                                             Index depth_stride, Index panel_stride, Index depth, From from,
                                             const T* bias, Index columns) {
  Left<T> a = left;
  constexpr int lanes = kLanes<T>, per_panel = kPanel / lanes, vectors = per_panel * panels;
  const bool whole = columns >= vectors * lanes;
  const auto width_at = [&](int v) { return int(std::clamp<Index>(columns - v * lanes, 0, lanes)); };
  Vec<T> sum[rows][vectors];
  // Unrolled: otherwise the compiler keeps the sums on the stack, and clearing them there takes as
  // long as a short product.
  const auto for_each_sum = [&](const auto& run) {
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < vectors; ++v) run(r, v);
  };
  if (from == From::zero)
    for_each_sum([&](int r, int v) { sum[r][v] = Vec<T>{}; });
  else
    for_each_sum([&](int r, int v) {
      const T* start = (from == From::bias ? bias : result + r * stride) + v * lanes;
      sum[r][v] = whole ? load(start) : load_partial(start, width_at(v));
    });
#pragma GCC unroll 2
  for (Index k = 0; k < depth; ++k) {
    for (int v = 0; v < vectors; ++v) {
      const Vec<T> values = load(right + v / per_panel * panel_stride + v % per_panel * lanes);
      for (int r = 0; r < rows; ++r) sum[r][v] += a.data[r * a.row_stride] * values;
    }
    a.data += a.depth_stride;
    right += depth_stride;
  }
  if (whole)
    for_each_sum([&](int r, int v) { store<T>(result + r * stride + v * lanes, sum[r][v]); });
  else
    for_each_sum([&](int r, int v) { store_partial<T>(result + r * stride + v * lanes, sum[r][v], width_at(v)); });
}

// Multiply one block of rows with all columns: as many panels at a time as the registers hold, then
// all remaining panels together, so that as many sums as possible run in parallel.
template <typename T, int rows, int panels = std::max<int>(1, 8 * kLanes<T> / (rows * kPanel))>
inline void multiply_rows(T* result, Index stride, Left<T> a, Right<T> b, Index columns, Index depth, From from,
                          const T* bias) {
  constexpr Index wide = panels * kPanel;
  while (columns >= wide || (panels == 1 && columns > 0)) {
    multiply_tile<T, rows, panels>(result, stride, a, b.data, b.depth_stride, b.panel_stride, depth, from, bias,
                                   columns);
    result += wide;
    if (from == From::bias) bias += wide;
    b.data += panels * b.panel_stride;
    columns -= wide;
  }
  if constexpr (panels > 1) multiply_rows<T, rows, panels - 1>(result, stride, a, b, columns, depth, from, bias);
}

// Return a left factor from `row` on.
template <typename T>
Left<T> rows_from(Left<T> a, Index row) {
  return {a.data + row * a.row_stride, a.row_stride, a.depth_stride};
}

// Panels that a tile of `rows` rows takes at a time: enough sums to keep both multipliers busy, in half of the
// registers. The tiles of the weight gradients (8 rows) use more: loads of their strided rows limit the speed.
template <typename T>
constexpr int panels_for(int rows) {
  const int sums = NTM_VECTOR_BYTES != 64 ? 8 : rows == 8 ? 24 : 16;
  return std::max<int>(1, sums * kLanes<T> / (rows * kPanel));
}

// Multiply `tall` rows, a multiple of `rows`, with all columns. The blocks of rows share the panels of b while they are
// in cache.
template <typename T, int rows, int panels = panels_for<T>(rows)>
void multiply_tall(T* result, Index stride, Left<T> a, Right<T> b, Index tall, Index columns, Index depth, From from,
                   const T* bias) {
  constexpr Index wide = panels * kPanel;
  while (columns >= wide || (panels == 1 && columns > 0)) {
    for (Index row = 0; row < tall; row += rows)
      multiply_tile<T, rows, panels>(result + row * stride, stride, rows_from(a, row), b.data, b.depth_stride,
                                     b.panel_stride, depth, from, bias, columns);
    result += wide;
    if (from == From::bias) bias += wide;
    b.data += panels * b.panel_stride;
    columns -= wide;
  }
  if constexpr (panels > 1) multiply_tall<T, rows, panels - 1>(result, stride, a, b, tall, columns, depth, from, bias);
}

// Multiply the rows that fill whole blocks of `tallest` rows, and return their number.
template <typename T, int tallest>
Index multiply_blocks(T* result, Index stride, Left<T> a, Right<T> b, Index rows, Index columns, Index depth, From from,
                      const T* bias) {
  const Index tall = rows / tallest * tallest;
  if (tall > 0) multiply_tall<T, tallest>(result, stride, a, b, tall, columns, depth, from, bias);
  return tall;
}

// result (rows x columns) = [bias or result +] a (rows x depth) * b (depth x columns).
template <typename T>
void multiply(T* result, Index stride, Left<T> a, Right<T> b, Index rows, Index columns, Index depth,
              From from = From::zero, const T* bias = nullptr) {
  constexpr int tallest = kLanes<T> * 2 >= kPanel ? 4 : 2;
  Index row = multiply_blocks<T, tallest>(result, stride, a, b, rows, columns, depth, from, bias);
  if (tallest > 2 && row + 2 <= rows) {
    multiply_rows<T, 2>(result + row * stride, stride, rows_from(a, row), b, columns, depth, from, bias);
    row += 2;
  }
  if (row < rows) multiply_rows<T, 1>(result + row * stride, stride, rows_from(a, row), b, columns, depth, from, bias);
}

// Transpose four by four elements: to[c * to_stride + r] = from[r * from_stride + c].
template <typename T>
inline void transpose_block(T* to, Index to_stride, const T* from, Index from_stride) {
  typedef T Four __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T))));
  const auto row = [&](int r) { return *reinterpret_cast<const Four*>(from + r * from_stride); };
  const auto put = [&](int c, Four column) { *reinterpret_cast<Four*>(to + c * to_stride) = column; };
  const auto low = [](Four a, Four b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); };
  const auto high = [](Four a, Four b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); };
  const Four even_low = low(row(0), row(2)), odd_low = low(row(1), row(3));
  const Four even_high = high(row(0), row(2)), odd_high = high(row(1), row(3));
  put(0, low(even_low, odd_low));
  put(1, high(even_low, odd_low));
  put(2, low(even_high, odd_high));
  put(3, high(even_high, odd_high));
}

// The same for any number of rows and columns of `from`.
template <typename T>
void transpose(T* to, Index to_stride, const T* from, Index from_stride, Index rows, Index columns) {
  const Index whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (Index r = 0; r < whole_rows; r += 4)
    for (Index c = 0; c < whole_columns; c += 4)
      transpose_block(to + c * to_stride + r, to_stride, from + r * from_stride + c, from_stride);
  for (Index r = 0; r < rows; ++r)
    for (Index c = r < whole_rows ? whole_columns : 0; c < columns; ++c)
      to[c * to_stride + r] = from[r * from_stride + c];
}

// Transpose sixteen rows by four columns of `from` to four rows of a panel, each written at once.
template <typename T>
inline void transpose_sixteen(T* to, const T* from, Index from_stride) {
  typedef T Four __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T))));
  typedef T Sixteen __attribute__((vector_size(16 * sizeof(T)), aligned(alignof(T))));
  // Rows r, r + 4, r + 8 and r + 12 side by side: four blocks of four by four at a time.
  const auto rows = [&](int r) {
    const auto row = [&](int i) { return *reinterpret_cast<const Four*>(from + (r + i) * from_stride); };
    const auto two = [](Four a, Four b) { return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7); };
    return __builtin_shufflevector(two(row(0), row(4)), two(row(8), row(12)), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                   13, 14, 15);
  };
  const auto low = [](Sixteen a, Sixteen b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
  };
  const auto high = [](Sixteen a, Sixteen b) {
    return __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  };
  const auto put = [&](int c, Sixteen column) { *reinterpret_cast<Sixteen*>(to + c * kPanel) = column; };
  const Sixteen first = rows(0), second = rows(1), third = rows(2), fourth = rows(3);
  const Sixteen even_low = low(first, third), odd_low = low(second, fourth);
  const Sixteen even_high = high(first, third), odd_high = high(second, fourth);
  put(0, low(even_low, odd_low));
  put(1, high(even_low, odd_low));
  put(2, low(even_high, odd_high));
  put(3, high(even_high, odd_high));
}

// Transpose up to sixteen rows of `from` to the columns of a panel.
template <typename T>
void transpose_to_panel(T* to, const T* from, Index from_stride, Index rows, Index columns) {
  Index c = 0;
  if (rows == kPanel)
    for (; c + 4 <= columns; c += 4) transpose_sixteen(to + c * kPanel, from + c, from_stride);
  transpose(to + c * kPanel, kPanel, from + c, from_stride, rows, columns - c);
}

// A weight matrix (outputs, inputs) in panels, for products along either of its sides.
template <typename T>
class Packed {
 public:
  Packed(Index depth, Index columns) : depth_(depth), columns_(columns), data_(buffer<T>(depth * padded(columns))) {}

  // For y = W x + bias: depth runs over the inputs, panels over the outputs.
  void pack(const T* weight, const T* bias = nullptr) {
    for (Index panel = 0; panel < columns_; panel += kPanel)
      transpose_to_panel(data_.get() + panel * depth_, weight + panel * depth_, depth_,
                         std::min(kPanel, columns_ - panel), depth_);
    if (!bias) return;
    bias_.assign(bias, bias + columns_);
    bias_.resize(padded(columns_));
  }

  // For dx = W^T dy: depth runs over the outputs, panels over the inputs.
  void pack_transposed(const T* weight) { pack_transposed(weight, columns_); }

  // The same for some of the inputs. The rows of the weight are `stride` apart.
  void pack_transposed(const T* weight, Index stride) {
    for (Index k = 0; k < depth_; ++k) set_row(data_.get(), depth_, k, weight + k * stride, columns_);
  }

  // Apply the map to `rows` rows of x, `x_stride` apart. Writes `columns` columns of y.
  void apply(T* y, Index y_stride, const T* x, Index x_stride, Index rows, Index columns) const {
    multiply<T>(y, y_stride, {x, x_stride, 1}, {data_.get(), kPanel, depth_ * kPanel}, rows, columns, depth_,
                bias_.empty() ? From::zero : From::bias, bias_.data());
  }

  // The same without the bias, added to y.
  void add(T* y, Index y_stride, const T* x, Index x_stride, Index rows, Index columns) const {
    multiply<T>(y, y_stride, {x, x_stride, 1}, {data_.get(), kPanel, depth_ * kPanel}, rows, columns, depth_,
                From::result);
  }

 private:
  Index depth_, columns_;
  Buffer<T> data_;
  Scratch<T> bias_;
};

// dbias [first, last) = [dbias +] column sums of dy over `rows` rows.
template <typename T>
void add_rows(T* dbias, const T* dy, Index dy_stride, Index rows, From from, Index first, Index last) {
  for (Index o = first; o < last; o += kLanes<T>) {
    const int width = int(std::min<Index>(kLanes<T>, last - o));
    Vec<T> sum = from == From::zero ? Vec<T>{} : load_partial(dbias + o, width);
    for (Index row = 0; row < rows; ++row) sum += load(dy + row * dy_stride + o);
    store_partial<T>(dbias + o, sum, width);
  }
}

// dweight (outputs x inputs) = [dweight +] dy^T x over `rows` rows, for the outputs in [first, last).
template <typename T>
void add_outputs(T* dweight, const T* dy, Index dy_stride, Right<T> x, Index rows, Index inputs, From from, Index first,
                 Index last) {
  // The rows of the left factor are adjacent here, so blocks are taller.
  constexpr int tallest = kLanes<T> >= kPanel ? 8 : 0;
  const Left<T> left = {dy + first, 1, dy_stride};
  T* const result = dweight + first * inputs;
  Index done = 0;
  if constexpr (tallest > 0)
    done = multiply_blocks<T, tallest>(result, inputs, left, x, last - first, inputs, rows, from, nullptr);
  multiply<T>(result + done * inputs, inputs, rows_from(left, done), x, last - first - done, inputs, rows, from);
}

// dweight (outputs x inputs) = dy^T x and dbias = column sums of dy, over `rows` padded rows.
// Computes the outputs in [first, last), so that threads can share the work. dbias may be null.
template <typename T>
void weight_gradient(T* dweight, T* dbias, const T* dy, Index dy_stride, Right<T> x, Index rows, Index inputs,
                     Index first, Index last) {
  constexpr Index block = 64, near = 16;  // rows, and outputs, that stay in cache while all tiles use them
  Index row = 0;
  do {  // once even without rows: the gradient is then zero
    const T* const dvalues = dy + row * dy_stride;
    const Index count = std::min(block, rows - row);
    const From from = row == 0 ? From::zero : From::result;
    for (Index o = first; o < last; o += near)
      add_outputs(dweight, dvalues, dy_stride, depths_from(x, row), count, inputs, from, o, std::min(o + near, last));
    if (dbias) add_rows(dbias, dvalues, dy_stride, count, from, first, last);
    row += block;
  } while (row < rows);
}

}  // namespace ntm::NTM_TARGET
