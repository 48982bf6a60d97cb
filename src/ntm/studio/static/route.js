/**
 * The page's address, after the hash:
 *
 *     #play/NETWORK?v=...&memory=256&step=12&head=1      a network, a drawing, a step and a head
 *     #training/TASK
 *
 * Parts of an address that make no sense are ignored.
 */

/** @import { Route, View } from "./types.d.ts" */
/** @typedef {{ view: string, id: string, [name: string]: string | number | null | undefined }} RouteValues */

const VIEWS = ["play", "training"];
const LONGEST = 8000;

/**
 * { view, id, ...rest }: rest are the other values, as texts. The first view is the default.
 * @param {string} hash @param {string[]} [views]
 * @returns {Route}
 */
export function readRoute(hash, views = VIEWS) {
  const [path, query = ""] = splitOnce(hash.replace(/^#/, ""), "?");
  const [view, id = ""] = splitOnce(decoded(path), "/");
  const rest = Object.fromEntries(new URLSearchParams(query));
  return views.includes(view) ? { ...rest, view, id } : { view: views[0], id: "" };
}

/**
 * The address of a route. Null values are left out; if the address is too long, all values are.
 * @param {RouteValues} route
 */
export function writeRoute({ view, id, ...rest }) {
  const path = `#${view}${id ? `/${encodeURIComponent(id).replaceAll("%3A", ":")}` : ""}`;
  const known = Object.entries(rest).filter(([, value]) => value !== null && value !== undefined);
  const query = known.map(([key, value]) => `${key}=${encodeURIComponent(value ?? "")}`).join("&");
  return query && query.length <= LONGEST ? `${path}?${query}` : path;
}

/**
 * A whole number of at least `least` in an address, or null.
 * @param {string | number | null | undefined} text @param {number} least
 */
export function wholeNumber(text, least) {
  const number = /^\d{1,9}$/.test(String(text ?? "")) ? Number(text) : null;
  return number !== null && number >= least ? number : null;
}

/** @param {string} text @param {string} mark */
function splitOnce(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The step and head of an address, as far as it contains them.
 * @param {Partial<Route>} route
 */
export function viewIn({ step, head }) {
  const [count, number] = [wholeNumber(step, 1), wholeNumber(head, 0)];
  /** @type {Partial<View>} */
  const view = {};
  if (count !== null) view.step = count - 1;
  if (number !== null) view.head = number;
  return view;
}
