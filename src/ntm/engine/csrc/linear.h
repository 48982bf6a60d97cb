// Matrix products. All of them are one loop nest, `multiply`, whose sums run in order of the depth for every
// element: a result does not depend on how many rows are multiplied at once, nor on the number of threads.
#pragma once

#include <algorithm>
#include <memory>

#include "contract.h"
#include "simd.h"

namespace ntm::NTM_TARGET {

// Uninitialised memory: every element is written before it is read.
template <typename T>
using Buffer = std::unique_ptr<T[]>;

template <typename T>
Buffer<T> buffer(Index count) {
  return Buffer<T>(new T[count]);
}

// Columns are handled in panels of 16, and rows that the kernels own are padded to whole panels.
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

// Where the sums start: at a bias per column, at what the result holds, or at zero.
enum class From { zero, bias, result };

// `rows` x `panels` panels of the result, held in registers while the depth runs. `columns` of them are stored.
template <typename T, int rows, int panels>
__attribute__((noinline)) void multiply_tile(T* result, Index stride, Left<T> a, Right<T> b, Index depth, From from, const T* bias,
                          Index columns) {
  constexpr int lanes = kLanes<T>, per_panel = kPanel / lanes, vectors = per_panel * panels;
  const auto width_at = [&](int v) { return int(std::clamp<Index>(columns - v * lanes, 0, lanes)); };
  Vec<T> sum[rows][vectors];
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) {
      const T* start = (from == From::bias ? bias : result + r * stride) + v * lanes;
      sum[r][v] = from == From::zero ? Vec<T>{} : width_at(v) == lanes ? load(start) : load_partial(start, width_at(v));
    }
  const T* left[rows];
  const T* right[panels];
  for (int r = 0; r < rows; ++r) left[r] = a.data + r * a.row_stride;
  for (int p = 0; p < panels; ++p) right[p] = b.data + p * b.panel_stride;
  for (Index k = 0; k < depth; ++k) {
    for (int v = 0; v < vectors; ++v) {
      const Vec<T> values = load(right[v / per_panel] + v % per_panel * lanes);
      for (int r = 0; r < rows; ++r) sum[r][v] += *left[r] * values;
    }
    for (int r = 0; r < rows; ++r) left[r] += a.depth_stride;
    for (int p = 0; p < panels; ++p) right[p] += b.depth_stride;
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) {
      T* end = result + r * stride + v * lanes;
      width_at(v) == lanes ? store<T>(end, sum[r][v]) : store_partial<T>(end, sum[r][v], width_at(v));
    }
}

// One block of rows across all columns: as many panels at a time as the registers hold, then fewer.
template <typename T, int rows, int panels = std::max<int>(1, 8 * kLanes<T> / (rows * kPanel))>
inline void multiply_rows(T* result, Index stride, Left<T> a, Right<T> b, Index columns, Index depth, From from,
                          const T* bias) {
  constexpr Index wide = panels * kPanel;
  while (columns >= wide || (panels == 1 && columns > 0)) {
    multiply_tile<T, rows, panels>(result, stride, a, b, depth, from, bias, columns);
    result += wide;
    if (from == From::bias) bias += wide;
    b.data += panels * b.panel_stride;
    columns -= wide;
  }
  if constexpr (panels > 1) multiply_rows<T, rows, panels / 2>(result, stride, a, b, columns, depth, from, bias);
}

// result (rows x columns) = [bias or result +] a (rows x depth) * b (depth x columns)
template <typename T>
void multiply(T* result, Index stride, Left<T> a, Right<T> b, Index rows, Index columns, Index depth,
              From from = From::zero, const T* bias = nullptr) {
  constexpr int tallest = kLanes<T> * 2 >= kPanel ? 4 : 2;
  Index row = 0;
  const auto left = [&] { return Left<T>{a.data + row * a.row_stride, a.row_stride, a.depth_stride}; };
  for (; row + tallest <= rows; row += tallest)
    multiply_rows<T, tallest>(result + row * stride, stride, left(), b, columns, depth, from, bias);
  if (tallest > 2 && row + 2 <= rows) {
    multiply_rows<T, 2>(result + row * stride, stride, left(), b, columns, depth, from, bias);
    row += 2;
  }
  if (row < rows) multiply_rows<T, 1>(result + row * stride, stride, left(), b, columns, depth, from, bias);
}

// A weight matrix (outputs, inputs) laid out in panels, for products along either of its sides.
template <typename T>
class Packed {
 public:
  // y = W x: depth runs over the inputs, panels over the outputs.
  static Packed forward(const T* weight, const T* bias, Index outputs, Index inputs) {
    Packed packed(inputs, outputs);
    for (Index o = 0; o < outputs; ++o) {
      T* column = packed.data_.get() + o / kPanel * inputs * kPanel + o % kPanel;
      for (Index i = 0; i < inputs; ++i) column[i * kPanel] = weight[o * inputs + i];
    }
    packed.bias_.assign(padded(outputs), T(0));
    std::copy(bias, bias + outputs, packed.bias_.begin());
    return packed;
  }

  // dx = W^T dy: depth runs over the outputs, panels over the inputs.
  static Packed backward(const T* weight, Index outputs, Index inputs) {
    Packed packed(outputs, inputs);
    for (Index o = 0; o < outputs; ++o)
      for (Index i = 0; i < inputs; i += kPanel)
        std::copy(weight + o * inputs + i, weight + o * inputs + std::min(i + kPanel, inputs),
                  packed.data_.get() + i * outputs + o * kPanel);
    return packed;
  }

  // `rows` rows of x, `x_stride` apart, to rows of y. y's rows are written up to `columns`.
  void apply(T* y, Index y_stride, const T* x, Index x_stride, Index rows, Index columns) const {
    multiply<T>(y, y_stride, {x, x_stride, 1}, {data_.get(), kPanel, depth_ * kPanel}, rows, columns, depth_,
                bias_.empty() ? From::zero : From::bias, bias_.data());
  }

 private:
  Packed(Index depth, Index columns) : depth_(depth), data_(buffer<T>(depth * padded(columns))) {}

  Index depth_;
  Buffer<T> data_;
  std::vector<T> bias_;
};

// dweight (outputs x inputs) = dy^T x and dbias = column sums of dy, over `rows` rows of each; x's rows are padded.
// Only the outputs in [first, last) are computed, so that threads can share the work.
template <typename T>
void weight_gradient(T* dweight, T* dbias, const T* dy, Index dy_stride, const T* x, Index x_stride, Index rows,
                     Index inputs, Index first, Index last) {
  multiply<T>(dweight + first * inputs, inputs, {dy + first, 1, dy_stride}, rows_of(x, x_stride), last - first,
              inputs, rows);
  std::fill(dbias + first, dbias + last, T(0));
  for (Index row = 0; row < rows; ++row)
    for (Index o = first; o < last; ++o) dbias[o] += dy[row * dy_stride + o];
}

}  // namespace ntm::NTM_TARGET
