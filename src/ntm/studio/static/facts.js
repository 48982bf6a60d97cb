/** Facts about traces and runs, written by `make facts` from the Python package. */

/** @import { ArrayDocument } from "./types.d.ts" */

/** The format of a trace document. */
export const TRACE_FORMAT = 3;
/**
 * Description of the arrays of an NTM's heads; see ntm.description.
 * @type {ArrayDocument[]}
 */
export const NTM_ARRAYS = [
  { name: "reads", kind: "read", label: "read", role: "vector", axis: "width" },
  { name: "erases", kind: "write", label: "erase", role: "vector", axis: "width" },
  { name: "adds", kind: "write", label: "add", role: "vector", axis: "width" },
  { name: "keys", kind: "read", label: "key", role: "detail", axis: "width" },
  { name: "strengths", kind: "read", label: "key strength", role: "detail", axis: "read head" },
  { name: "gates", kind: "read", label: "gate", role: "detail", axis: "read head" },
  { name: "shifts", kind: "read", label: "shift", role: "detail", axis: "shift" },
  { name: "sharpness", kind: "read", label: "sharpness", role: "detail", axis: "read head" },
  { name: "content", kind: "read", label: "by content alone", role: "detail", axis: "location" },
  { name: "gated", kind: "read", label: "after interpolation", role: "detail", axis: "location" },
  { name: "shifted", kind: "read", label: "after rotation", role: "detail", axis: "location" },
  { name: "weightings", kind: "read", label: "after sharpening", role: "weighting", axis: "location" },
  { name: "keys", kind: "write", label: "key", role: "detail", axis: "width" },
  { name: "strengths", kind: "write", label: "key strength", role: "detail", axis: "write head" },
  { name: "gates", kind: "write", label: "gate", role: "detail", axis: "write head" },
  { name: "shifts", kind: "write", label: "shift", role: "detail", axis: "shift" },
  { name: "sharpness", kind: "write", label: "sharpness", role: "detail", axis: "write head" },
  { name: "content", kind: "write", label: "by content alone", role: "detail", axis: "location" },
  { name: "gated", kind: "write", label: "after interpolation", role: "detail", axis: "location" },
  { name: "shifted", kind: "write", label: "after rotation", role: "detail", axis: "location" },
  { name: "weightings", kind: "write", label: "after sharpening", role: "weighting", axis: "location" },
];
/** States of a run. */
export const RUN_STATES = ["running", "stopped", "finished", "failed", "unreadable"];
/** Defaults and limits of the form that starts a run. */
export const RUN_FORM = {
  seed: { value: 1, min: 0, max: 2147483647 },
  sequences: { value: 100000, min: 1, max: 10000000 },
  name: { pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]{0,99}", maxlength: 100 },
};
