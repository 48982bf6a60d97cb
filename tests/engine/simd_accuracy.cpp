// Accuracy of the functions in simd.h. Prints the largest error of each function, in units in the
// last place of the exact result, and its argument. The exit code is 1 if a special value is wrong.
//
// Long double arithmetic is the truth. The arguments are uniform in value and uniform in magnitude
// (small numbers matter as much as large ones). Arguments near the points where a function changes
// its method are added.

#include "simd.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

namespace ntm::NTM_TARGET {

template <typename T>
using Function = Vec<T> (*)(Vec<T>);

// Return the last lane of function(x in all lanes).
template <typename T>
T at(Function<T> function, T x) {
  return function(broadcast<T>(x))[kLanes<T> - 1];
}

template <typename T>
long double units_off(T found, long double exact) {
  const T rounded = std::abs(T(exact));
  const T unit = std::nextafter(rounded, std::numeric_limits<T>::infinity()) - rounded;
  return std::abs((long double)(found)-exact) / unit;
}

template <typename T, typename Exact>
void report(const char* name, Function<T> function, Exact exact, T low, T high, std::initializer_list<T> changes) {
  long double largest = 0;
  T where = 0;
  const auto look = [&](T x) {
    if (x < low || x > high) return;
    const long double error = units_off(at<T>(function, x), exact((long double)(x)));
    if (error <= largest) return;
    largest = error;
    where = x;
  };
  std::mt19937_64 random(1);
  const double widest = std::max(std::abs(low), std::abs(high));
  std::uniform_real_distribution<double> value(low / 2, high / 2);  // high - low must not overflow
  std::uniform_real_distribution<double> exponent(std::log2(std::numeric_limits<T>::min()), std::log2(widest));
  for (int i = 0; i < 200000; ++i) {
    const T magnitude = T(std::exp2(exponent(random)));
    for (T x : {magnitude, -magnitude, T(2 * value(random))}) look(x);
  }
  for (T change : changes)
    for (T x : {change, -change})
      for (int i = -1000; i <= 1000; ++i) look(x * (1 + T(i) * std::numeric_limits<T>::epsilon()));
  for (T x : {T(0), low, high}) look(x);
  std::printf("%s %d %.3Lf %.9g\n", name, int(8 * sizeof(T)), largest, double(where));
}

template <typename T>
void report_all() {
  using M = Math<T>;
  using Limits = std::numeric_limits<T>;
  const T half_ln2 = T(0.34657359027997265L);
  report<T>("exp", exp<T>, [](long double x) { return std::exp(x); }, M::exp_lowest, M::exp_highest, {half_ln2});
  report<T>("log", log<T>, [](long double x) { return std::log(x); }, Limits::min(), Limits::max(),
            {T(1), T(std::sqrt(0.5L)), T(std::sqrt(2.0L))});
  report<T>("sigmoid", sigmoid<T>, [](long double x) { return 1 / (1 + std::exp(-x)); }, M::exp_lowest,
            -2 * M::exp_lowest, {half_ln2});
  report<T>("tanh", tanh<T>, [](long double x) { return std::tanh(x); }, -2 * M::exp_highest, 2 * M::exp_highest,
            {T(0.625)});
}

template <typename T>
bool special_values_hold() {
  using Limits = std::numeric_limits<T>;
  const T infinity = Limits::infinity(), largest = Limits::max();
  bool hold =
      at<T>(exp<T>, 0) == 1 && at<T>(log<T>, 1) == 0 && at<T>(tanh<T>, 0) == 0 && at<T>(sigmoid<T>, 0) == T(0.5);
  for (T far : {largest, infinity}) {
    hold &= at<T>(exp<T>, -far) == 0 && at<T>(exp<T>, far) < infinity && at<T>(exp<T>, far) > largest / 4;
    hold &= at<T>(tanh<T>, far) == 1 && at<T>(tanh<T>, -far) == -1;
    hold &= at<T>(sigmoid<T>, far) == 1 && at<T>(sigmoid<T>, -far) < Limits::min();
  }
  for (Function<T> function : {exp<T>, log<T>, sigmoid<T>, tanh<T>})
    for (const char* payload : {"0", "1", "0x3fffff"})
      for (T sign : {T(1), T(-1)}) hold &= std::isnan(at<T>(function, std::copysign(T(std::nan(payload)), sign)));
  return hold;
}

}  // namespace ntm::NTM_TARGET

int main() {
  using namespace ntm::NTM_TARGET;
  report_all<float>();
  report_all<double>();
  return special_values_hold<float>() && special_values_hold<double>() ? 0 : 1;
}
