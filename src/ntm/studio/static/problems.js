/** Problems as the server takes them, changed the way a person wants them changed. */

export function sizeOf(problem, axis) {
  if (axis === "repeats") return problem.repeats;
  if (axis === "items") return problem.items.length;
  return (problem.vectors ?? problem.bits).length;
}

/** Whether what was drawn for one network can be shown to another. */
export function isSameForm(network, other) {
  const { bits, item_length: itemLength } = network.problem;
  return network.task === other.task && bits === other.problem.bits &&
    itemLength === other.problem.item_length;
}

/** Make a problem longer or shorter, in place: what is drawn stays, what is missing is random. */
export function resizeProblem(problem, axis, size, { bits, item_length: itemLength }) {
  if (axis === "repeats") {
    problem.repeats = size;
  } else if (axis === "items") {
    const item = () => Array.from({ length: itemLength }, () => randomBits(bits));
    fitLength(problem.items, size, item);
    problem.query = Math.min(problem.query, size - 2);
  } else {
    fitLength(problem.vectors, size, () => randomBits(bits));
    if (problem.priorities) fitLength(problem.priorities, size, () => Math.random() * 2 - 1);
  }
}

/** Set all bits of a problem to zero, in place. */
export function clearProblem(problem) {
  const vectors = problem.items?.flat() ?? problem.vectors ?? [problem.bits];
  for (const bits of vectors) bits.fill(0);
}

function fitLength(list, length, makeOne) {
  while (list.length < length) list.push(makeOne());
  list.length = length;
}

function randomBits(count) {
  return Array.from({ length: count }, () => Math.round(Math.random()));
}
