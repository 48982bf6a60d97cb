/** The answer of a network in a few words. */

/** @import { TraceDocument } from "../../studio/static/types.d.ts" */

/** @param {Pick<TraceDocument, "wrong_bits" | "answer_steps" | "labels">} trace */
export function verdictOf({ wrong_bits: wrong, answer_steps: steps, labels }) {
  const all = (steps.length * labels.outputs.length).toLocaleString("en");
  if (!wrong) return `all ${all} bits right`;
  return `${wrong.toLocaleString("en")} of ${all} bits wrong`;
}
