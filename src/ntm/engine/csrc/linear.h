// Matrix products. All of them are one loop nest, `multiply`, whose sums run in order of the depth for every
// element: a result does not depend on how many rows are multiplied at once, nor on the number of threads.
#pragma once

#include <algorithm>

#include "contract.h"
#include "simd.h"

namespace ntm::NTM_TARGET {

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

// `rows` x `panels` panels of the result, held in registers while the depth runs.
template <typename T, int rows, int panels>
inline void multiply_tile(T* result, Index stride, Left<T> a, Right<T> b, Index depth, From from,
                          const T* bias, Index columns) {
  constexpr int lanes = kLanes<T>, vectors = kPanel / lanes * panels;
  const auto offset = [](int v) { return v * lanes % kPanel; };
  const auto panel = [](int v) { return v * lanes / kPanel; };
  Vec<T> sum[rows][vectors];
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) {
      const T* start = from == From::bias ? bias + v * lanes : result + r * stride + v * lanes;
      const int left = int(std::clamp<Index>(columns - v * lanes, 0, lanes));
      sum[r][v] = from == From::zero ? Vec<T>{} : left == lanes ? load(start) : load_partial(start, left);
    }
  for (Index k = 0; k < depth; ++k) {
    Vec<T> right[vectors];
    for (int v = 0; v < vectors; ++v)
      right[v] = load(b.data + panel(v) * b.panel_stride + k * b.depth_stride + offset(v));
    for (int r = 0; r < rows; ++r) {
      const T left = a.data[r * a.row_stride + k * a.depth_stride];
      for (int v = 0; v < vectors; ++v) sum[r][v] += left * right[v];
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < vectors; ++v) {
      const int left = int(std::clamp<Index>(columns - v * lanes, 0, lanes));
      T* end = result + r * stride + v * lanes;
      left == lanes ? store<T>(end, sum[r][v]) : store_partial<T>(end, sum[r][v], left);
    }
}

// One block of rows across all columns: as many panels at a time as the registers hold.
template <typename T, int rows>
inline void multiply_rows(T* result, Index stride, Left<T> a, Right<T> b, Index columns, Index depth,
                          From from, const T* bias) {
  constexpr int panels = std::max<int>(1, 8 * kLanes<T> / (rows * kPanel));
  Index column = 0;
  const auto right = [&] { return Right<T>{b.data + column / kPanel * b.panel_stride, b.depth_stride, b.panel_stride}; };
  const auto at = [&](Index c) { return from == From::bias ? bias + c : nullptr; };
  for (; column + panels * kPanel <= columns; column += panels * kPanel)
    multiply_tile<T, rows, panels>(result + column, stride, a, right(), depth, from, at(column), panels * kPanel);
  for (; column < columns; column += kPanel)
    multiply_tile<T, rows, 1>(result + column, stride, a, right(), depth, from, at(column), columns - column);
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
      T* column = packed.data_.data() + o / kPanel * inputs * kPanel + o % kPanel;
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
                  packed.data_.data() + i * outputs + o * kPanel);
    return packed;
  }

  // `rows` rows of x, `x_stride` apart, to rows of y. y's rows are written up to `columns`.
  void apply(T* y, Index y_stride, const T* x, Index x_stride, Index rows, Index columns) const {
    multiply<T>(y, y_stride, {x, x_stride, 1}, {data_.data(), kPanel, depth_ * kPanel}, rows, columns, depth_,
                bias_.empty() ? From::zero : From::bias, bias_.data());
  }

 private:
  Packed(Index depth, Index columns) : depth_(depth), data_(depth * padded(columns)) {}

  Index depth_;
  std::vector<T> data_, bias_;
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
