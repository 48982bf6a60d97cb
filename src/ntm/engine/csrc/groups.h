// Sequences run in groups. Within a group all take a step together, so that the linear maps see several rows at once;
// groups are independent, and threads share them.
#pragma once

#include "plan.h"
#if defined(__wasm__)
#include "serial.h"
#else
#include "parallel.h"
#endif

namespace ntm::NTM_TARGET {

// Sequences per group: enough to feed the matrix products, few enough for their tape to stay near and for all threads
// to be busy to the end.
constexpr Index kGroup = 4;

inline Index groups_of(const Batch& batch) { return (batch.sequences + kGroup - 1) / kGroup; }

// Makes workspaces before there are threads: what a short-lived one allocates, the system must give anew at every call.
template <typename Workspace>
void make_workspaces(std::vector<Workspace>& workspaces, const Plan& plan, const Batch& batch) {
  while (Index(workspaces.size()) < std::clamp<Index>(batch.threads, 1, groups_of(batch)))
    workspaces.emplace_back(plan);
}

// Work for a phase: run(workspace, begin, end) for every group of sorted positions, the longest sequences first. Each
// thread has a workspace of its own.
template <typename Workspace, typename Run>
auto group_work(const Batch& batch, std::vector<Workspace>& workspaces, const Run& run) {
  return [&, run](Index worker, Index group) {
    run(workspaces[worker], group * kGroup, std::min((group + 1) * kGroup, batch.sequences));
  };
}

}  // namespace ntm::NTM_TARGET
