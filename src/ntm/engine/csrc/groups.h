// Sequences run in groups. The sequences of a group take each step together, so that a linear map
// handles several rows at once. Groups are independent, and threads share them.
#pragma once

#include "plan.h"
#if defined(__wasm__)
#include "serial.h"
#else
#include "parallel.h"
#endif

namespace ntm::NTM_TARGET {

// Sequences per group: enough for fast matrix products, few enough that a group's tape stays in
// cache and that all threads are busy to the end.
constexpr Index kGroup = 4;

inline Index groups_of(const Batch& batch) { return (batch.sequences + kGroup - 1) / kGroup; }

// Make the workspaces on the calling thread, which reuses its free blocks (blocks.h).
template <typename Workspace>
void make_workspaces(std::vector<Workspace>& workspaces, const Plan& plan, const Batch& batch) {
  while (Index(workspaces.size()) < std::clamp<Index>(batch.threads, 1, groups_of(batch)))
    workspaces.emplace_back(plan);
}

// Return the work of a phase: run(workspace, begin, end) for every group of sorted positions, the
// longest sequences first. Each thread has its own workspace.
template <typename Workspace, typename Run>
auto group_work(const Batch& batch, std::vector<Workspace>& workspaces, const Run& run) {
  return [&, run](Index worker, Index group) {
    run(workspaces[worker], group * kGroup, std::min((group + 1) * kGroup, batch.sequences));
  };
}

}  // namespace ntm::NTM_TARGET
