// Vectors of the width this file is compiled for, and the functions the kernels need on them.
//
// The vector extensions of GCC and Clang allow one source without intrinsics, with ordinary
// operators, compiled once per instruction set (see CMakeLists.txt). Multiply-adds contract to FMA
// if the instruction set has it.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <utility>

#if defined(__AVX512F__)
#define NTM_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define NTM_VECTOR_BYTES 32
#else
#define NTM_VECTOR_BYTES 16
#endif

namespace ntm::NTM_TARGET {

template <typename T, typename Integer>
struct SimdOf {
  typedef T Vec __attribute__((vector_size(NTM_VECTOR_BYTES)));
  typedef T Unaligned __attribute__((vector_size(NTM_VECTOR_BYTES), aligned(alignof(T))));
  typedef Integer Int __attribute__((vector_size(NTM_VECTOR_BYTES)));
  typedef std::make_unsigned_t<Integer> Bits __attribute__((vector_size(NTM_VECTOR_BYTES)));
};

// Vector types for T, with integers of the same width for its bits.
template <typename T>
using Simd = SimdOf<T, std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>;

template <typename T>
using Vec = typename Simd<T>::Vec;
template <typename T>
using IntVec = typename Simd<T>::Int;
template <typename T>
using BitVec = typename Simd<T>::Bits;

template <typename T>
constexpr int kLanes = NTM_VECTOR_BYTES / sizeof(T);

// 0, 1, 2, ...: a number for each lane.
template <typename V>
using Lanes = std::make_index_sequence<sizeof(V) / sizeof(V{}[0])>;

// Load through a vector type instead of memcpy: the compiler then knows that a store changes no
// integer, and keeps sizes and strides in registers.
template <typename T>
inline Vec<T> load(const T* p) {
  return *reinterpret_cast<const typename Simd<T>::Unaligned*>(p);
}

template <typename T>
inline void store(T* p, Vec<T> v) {
  *reinterpret_cast<typename Simd<T>::Unaligned*>(p) = v;
}

template <typename T>
inline Vec<T> load_partial(const T* p, int count) {
  T lanes[kLanes<T>] = {};
  std::memcpy(lanes, p, count * sizeof(T));
  return load(lanes);
}

template <typename T>
inline void store_partial(T* p, Vec<T> v, int count) {
  T lanes[kLanes<T>];
  store<T>(lanes, v);
  std::memcpy(p, lanes, count * sizeof(T));
}

// x - 0 is x for every x, so this folds to a plain broadcast (x + 0 would not, for -0).
template <typename T>
inline Vec<T> broadcast(T x) {
  return x - Vec<T>{};
}

template <typename T>
inline Vec<T> max(Vec<T> a, Vec<T> b) {
  return a > b ? a : b;
}

template <typename T>
inline Vec<T> min(Vec<T> a, Vec<T> b) {
  return a < b ? a : b;
}

template <typename T>
inline Vec<T> abs(Vec<T> a) {
  return a < 0 ? -a : a;
}

// Lane i of the result is lane i ^ distance: for a short distance a cheap exchange of neighbours.
template <int distance, typename V, std::size_t... lane>
inline V exchanged(V v, std::index_sequence<lane...>) {
  return __builtin_shufflevector(v, v, int(lane ^ distance)...);
}

template <int lanes, typename V, typename Combine>
inline V reduce(V v, Combine combine) {
  if constexpr (lanes == 1)
    return v;
  else
    return reduce<lanes / 2>(combine(v, exchanged<lanes / 2>(v, Lanes<V>{})), combine);
}

template <typename T>
inline T sum_of(Vec<T> v) {
  return reduce<kLanes<T>>(v, [](Vec<T> a, Vec<T> b) { return a + b; })[0];
}

template <typename T>
inline T max_of(Vec<T> v) {
  return reduce<kLanes<T>>(v, [](Vec<T> a, Vec<T> b) { return max<T>(a, b); })[0];
}

// For every `count` lanes of the result: the first (or second) half of a's lanes, then of b's.
template <int count, bool second, typename V, std::size_t... lane>
inline V halves(V a, V b, std::index_sequence<lane...>) {
  constexpr int half = count / 2, lanes = sizeof...(lane);
  return __builtin_shufflevector(
      a, b, int(lane % count < half ? lane + second * half : lanes + lane - half + second * half)...);
}

// Lane i of the result is a partial sum of vector i % count. The lanes that are `count` apart add
// up to the sum of one vector.
template <int count, typename V>
inline V partial_sums(const V* v) {
  if constexpr (count == 1) {
    return *v;
  } else {
    const V a = partial_sums<count / 2>(v), b = partial_sums<count / 2>(v + count / 2);
    return halves<count, false>(a, b, Lanes<V>{}) + halves<count, true>(a, b, Lanes<V>{});
  }
}

template <int lanes, int count, typename V>
inline V folded(V v) {
  if constexpr (lanes == count)
    return v;
  else
    return folded<lanes / 2, count>(v + exchanged<lanes / 2>(v, Lanes<V>{}));
}

// Number of vectors that `store_sums` sums together: a third of the work of summing one by one.
template <typename T>
constexpr int kSums = kLanes<T> < 4 ? kLanes<T> : 4;

// result[i] = the sum of the lanes of v[i], for kSums vectors.
template <typename T>
inline void store_sums(T* result, const Vec<T>* v) {
  const Vec<T> sums = folded<kLanes<T>, kSums<T>>(partial_sums<kSums<T>>(v));
  std::memcpy(result, &sums, kSums<T> * sizeof(T));
}

// The same for any number of vectors.
template <typename T, typename Count>
inline void store_sums(T* result, const Vec<T>* v, Count count) {
  Count i = 0;
  for (; i + kSums<T> <= count; i += kSums<T>) store_sums<T>(result + i, v + i);
  for (; i < count; ++i) result[i] = sum_of<T>(v[i]);
}

template <typename T>
inline BitVec<T> bits_of(Vec<T> v) {
  BitVec<T> bits;
  std::memcpy(&bits, &v, sizeof v);
  return bits;
}

template <typename T>
inline Vec<T> from_bits(BitVec<T> bits) {
  Vec<T> v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

template <typename T>
inline Vec<T> sqrt(Vec<T> v) {
  Vec<T> root;
  for (int i = 0; i < kLanes<T>; ++i) root[i] = __builtin_sqrt(v[i]);
  return root;
}

template <>
inline Vec<float> sqrt<float>(Vec<float> v) {
  Vec<float> root;
  for (int i = 0; i < kLanes<float>; ++i) root[i] = __builtin_sqrtf(v[i]);
  return root;
}

// Constants of exp and log for float and for double. The polynomial of exp approximates
// (e^r - 1 - r) / r^2 on |r| <= ln(2)/2; log uses atanh's series in s = (m-1)/(m+1).
template <typename T>
struct Math;

template <>
struct Math<float> {
  static constexpr int mantissa_bits = 23;
  static constexpr std::uint32_t exponent_bias = 127;
  static constexpr float round_magic = 12582912.f;  // 1.5 * 2^23: adding it rounds to an integer
  static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  static constexpr float exp_lowest = -87.33654f, exp_highest = 88.02969f;
  static constexpr float exp_coefficients[] = {1.f / 5040, 1.f / 720, 1.f / 120, 1.f / 24, 1.f / 6, 0.5f};
  static constexpr float log_coefficients[] = {0.28498786688f, 0.40000972152f, 0.66666662693f};
  static constexpr float log_tail = 0.24279078841f;
};

template <>
struct Math<double> {
  static constexpr int mantissa_bits = 52;
  static constexpr std::uint64_t exponent_bias = 1023;
  static constexpr double round_magic = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double ln2_high = 6.93147180369123816490e-01;
  static constexpr double ln2_low = 1.90821492927058770002e-10;
  static constexpr double exp_lowest = -708.39, exp_highest = 709.43;
  static constexpr double exp_coefficients[] = {
      1. / 87178291200, 1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320,
      1. / 5040,        1. / 720,        1. / 120,       1. / 24,       1. / 6,       0.5};
  static constexpr double log_coefficients[] = {1.531383769920937332e-01, 1.818357216161805012e-01,
                                                2.222219843214978396e-01, 2.857142874366239149e-01,
                                                3.999999999940941908e-01, 6.666666666666735130e-01};
  static constexpr double log_tail = 1.479819860511658591e-01;
};

// e^x. Results below the smallest normal number are zero; large results stay below infinity. NaN
// stays NaN, here and below: `max` and `min` return their second argument if the comparison fails.
template <typename T>
inline Vec<T> exp(Vec<T> x) {
  using M = Math<T>;
  const Vec<T> clamped = min<T>(broadcast<T>(M::exp_highest), x);  // the last line handles low x
  const Vec<T> shifted = clamped * T(1.4426950408889634074) + M::round_magic;
  const Vec<T> n = shifted - M::round_magic;
  const Vec<T> r = clamped - n * M::ln2_high - n * M::ln2_low;
  Vec<T> p = broadcast<T>(M::exp_coefficients[0]);
  for (int i = 1; i < int(sizeof(M::exp_coefficients) / sizeof(T)); ++i) p = p * r + M::exp_coefficients[i];
  const Vec<T> fraction = p * r * r + r + T(1);
  // The low bits of `shifted` are the integer n; moved up, they are the exponent of 2^n.
  const Vec<T> power = from_bits<T>((bits_of<T>(shifted) + M::exponent_bias) << M::mantissa_bits);
  return x < M::exp_lowest ? Vec<T>{} : fraction * power;
}

// ln x for positive normal x. Adding x - x keeps NaN: the other terms read its bits as a number.
template <typename T>
inline Vec<T> log(Vec<T> x) {
  using M = Math<T>;
  // Subtracting the bits of sqrt(1/2) gives the exponent n with x / 2^n in [sqrt(1/2), sqrt(2)).
  const BitVec<T> root_half = bits_of<T>(broadcast<T>(T(0.70710678118654752440)));
  const IntVec<T> n = IntVec<T>(bits_of<T>(x) - root_half) >> M::mantissa_bits;
  const Vec<T> mantissa = from_bits<T>(bits_of<T>(x) - (BitVec<T>(n) << M::mantissa_bits));
  const Vec<T> f = mantissa - T(1);
  const Vec<T> s = f / (f + T(2));
  const Vec<T> z = s * s;
  Vec<T> p = broadcast<T>(M::log_tail);
  for (T coefficient : M::log_coefficients) p = p * z + coefficient;
  const Vec<T> half_square = f * f * T(0.5);
  const Vec<T> exponent = __builtin_convertvector(n, Vec<T>);
  const Vec<T> tail = s * (half_square + p * z) + exponent * M::ln2_low;
  return exponent * M::ln2_high + (f - (half_square - tail)) + (x - x);
}

// ln(1 + x) for x >= 0. The last term corrects for the rounding of 1 + x.
template <typename T>
inline Vec<T> log1p(Vec<T> x) {
  const Vec<T> sum = x + T(1);
  return log<T>(sum) + (x - (sum - T(1))) / sum;
}

template <typename T>
inline Vec<T> sigmoid(Vec<T> x) {
  return T(1) / (T(1) + exp<T>(-x));
}

template <typename T>
inline Vec<T> tanh_near_zero(Vec<T> x);

template <>
inline Vec<float> tanh_near_zero<float>(Vec<float> x) {
  const Vec<float> z = x * x;
  Vec<float> p = broadcast<float>(-5.70498872745e-3f);
  for (float c : {2.06390887954e-2f, -5.37397155531e-2f, 1.33314422036e-1f, -3.33332819422e-1f}) p = p * z + c;
  return p * z * x + x;
}

template <>
inline Vec<double> tanh_near_zero<double>(Vec<double> x) {
  const Vec<double> z = x * x;
  const Vec<double> p = (-9.64399179425052238628e-1 * z - 9.92877231001918586564e1) * z - 1.61468768441708447952e3;
  const Vec<double> q = ((z + 1.12811678491632931402e2) * z + 2.23548839060100448583e3) * z + 4.84406305325125486048e3;
  return p / q * z * x + x;
}

// Uses the exponential away from zero and a polynomial near zero, where the exponential cancels.
template <typename T>
inline Vec<T> tanh(Vec<T> x) {
  const Vec<T> magnitude = abs<T>(x);
  const Vec<T> far = T(1) - T(2) / (exp<T>(magnitude + magnitude) + T(1));
  return magnitude < T(0.625) ? tanh_near_zero<T>(x) : (x < 0 ? -far : far);
}

}  // namespace ntm::NTM_TARGET
