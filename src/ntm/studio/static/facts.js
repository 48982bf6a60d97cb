/** Facts about traces and runs, written by `make facts` from the Python package. */

/** The format of a trace document. */
export const TRACE_FORMAT = 2;
/** States of a run. */
export const RUN_STATES = ["running", "stopped", "finished", "failed", "unreadable"];
/** Defaults and limits of the form that starts a run. */
export const RUN_FORM = {
  seed: { value: 1, min: 0, max: 2147483647 },
  sequences: { value: 100000, min: 1, max: 10000000 },
  name: { pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]{0,99}", maxlength: 100 },
};
