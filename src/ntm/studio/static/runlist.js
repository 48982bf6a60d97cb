/** Which runs are listed, in which order, and how long they will take. */

const COLUMNS = {
  name: (run) => run.name,
  state: (run) => run.state,
  sequences: (run) => run.sequences,
  bits: (run) => run.bits,
  left: (run) => secondsLeft(run),
};

/** The runs whose name has every word of the text in it, of the given state, if one is given. */
export function filterRuns(runs, { text, state }) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return runs.filter((run) => {
    const searched = `${run.name} ${run.model ?? ""}`.toLowerCase();
    return words.every((word) => searched.includes(word)) && (!state || run.state === state);
  });
}

/** In the order of a column; runs that have nothing there come last, equals by their names. */
export function sortRuns(runs, { column, descending }) {
  const valueOf = COLUMNS[column];
  const sign = descending ? -1 : 1;
  return runs.toSorted((a, b) => {
    const [first, second] = [valueOf(a), valueOf(b)];
    if (first === null || second === null) {
      return (first === null) - (second === null) || compare(a.name, b.name);
    }
    return sign * compare(first, second) || compare(a.name, b.name);
  });
}

function compare(a, b) {
  if (typeof a === "string") return a.localeCompare(b, "en", { numeric: true });
  return a - b;
}

/** How long a run will go on at its present speed; null where that is not known. */
export function secondsLeft({ state, speed, sequences, total }) {
  if (state !== "running" || !speed || !total) return null;
  return Math.max(0, total - sequences) / speed;
}

/** A duration in the two largest of its units: "2 h 5 min". */
export function durationInWords(seconds) {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} min`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor(whole / 3600) % 24} h`;
}
