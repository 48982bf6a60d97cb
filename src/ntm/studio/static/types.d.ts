/** Types that the page's modules share. Types of data that only Python writes are in python.d.ts. */

import type {
  Axis, FolderAnswer, HeadKind, NetworkListed, Role,
} from "./python.d.ts";

export type Awaitable<Value> = Value | Promise<Value>;
export type { HeadKind };
/** A point of a learning curve: sequences seen, and the cost in bits. */
export type Point = [number, number];
/** Colours on a light page and on a dark page. */
export type Colours = [string, string];
/** A drawing. Its parts depend on the task. */
export type Problem = Record<string, any>;
export type Sizes = Partial<Record<Axis, number>>;

/** An array: row-major float32. */
export interface Values {
  shape: number[];
  values: Float32Array;
}

/** An array in a file: base64 of little-endian float32. */
export interface EncodedArray {
  shape: number[];
  data: string;
}

export type DocumentArray = Values | EncodedArray;

export interface Labels {
  inputs: string[];
  outputs: string[];
}

/** Kinds of channels: "bits" or "symbols". */
export interface Kinds {
  inputs: string;
  outputs: string;
}

/** A trace document; see the Python module ntm.studio.documents. */
export interface TraceDocument {
  format: number;
  title: string;
  task: string | null;
  hint: string | null;
  model: string | null;
  config: object | null;
  steps: number;
  cost_bits: number | null;
  wrong_bits: number | null;
  answer_steps: number[];
  labels: Labels;
  /** Bits if absent. */
  kinds?: Kinds;
  inputs: DocumentArray;
  targets: DocumentArray | null;
  outputs: DocumentArray;
  optimal: DocumentArray | null;
  shifts: number[];
  memory: DocumentArray | null;
  arrays: ArrayDocument[];
  lanes: Record<string, DocumentArray>;
  heads: HeadDocument[];
}

/** Description of an array; see the Python module ntm.description. */
export interface ArrayDocument {
  name: string;
  kind: HeadKind | null;
  label: string;
  role: Role;
  axis: string;
}

export interface HeadDocument {
  kind: HeadKind;
  index: number;
  arrays: Record<string, DocumentArray>;
}

/** An array with a label and the word for a row. */
export interface NamedValues {
  name: string;
  label: string;
  axis: string;
  values: Values;
}

export interface Head {
  kind: HeadKind;
  index: number;
  name: string;
  /** All arrays of the head by name. */
  arrays: Record<string, Values>;
  /** The locations that the head uses: (steps, locations). */
  weightings: Values;
  /** Arrays over the locations, in the order of their computation; the last one is `weightings`. */
  bars: NamedValues[];
  /** Vectors that the head reads or writes: (steps, width). */
  vectors: NamedValues[];
  /** Arrays to draw over time. */
  lanes: NamedValues[];
}

/** A trace document made ready for drawing. */
export interface Trace {
  title: string;
  hint: string | null;
  steps: number;
  costBits: number | null;
  wrongBits: number | null;
  answering: Set<number>;
  labels: Labels;
  kinds: Kinds;
  inputs: Values;
  targets: Values | null;
  outputs: Values;
  optimal: Values | null;
  memory: Values | null;
  /** Arrays of no head to draw over time. */
  lanes: NamedValues[];
  heads: Head[];
  shifts: number[];
}

/** A stretch of locations, which may wrap around the end of the memory. */
export interface Stretch {
  start: number;
  count: number;
}

export interface Tip {
  elements: HTMLElement[];
  showAt(x: number, y: number, content: string | Node): void;
  hide(): void;
  say(text: string): void;
}

/** The interface through which the parts of a viewer use it and each other. */
export interface TimelineStage {
  tip: Tip;
  goTo(step: number): void;
  step(): number;
  headOf(kind: HeadKind): Head | undefined;
  stretch(): Stretch;
  /** The end of the scale for these values. */
  greatest(values: Float32Array): number;
  /** The lanes to show (default: all). */
  lanes?: string[];
  /** Whether there is less room than usual (roomy), or much less (tight). */
  compact?: "roomy" | "tight";
}
export interface Stage extends TimelineStage {
  chosenHead(): Head;
}

/** A part of the viewer that is drawn for a step. */
export interface Part {
  element: HTMLElement;
  layout(): void;
  show(step: number): void;
}

/** The part of a trace that a viewer shows. */
export interface View {
  step: number;
  /** Number of the chosen head among all heads, and among the heads of each kind. */
  head: number;
  read: number;
  write: number;
  /** Number of heads; null: of another network. */
  heads: number | null;
  zoomed: boolean;
  fixed: boolean;
  tableOpen: boolean;
  playing: boolean;
  speed: number | null;
}

export interface Viewer {
  goTo(step: number): void;
  view: View;
  destroy(): void;
}

/** Axes of learning curves; see drawChart. */
export interface Frame {
  sequences: number;
  bits: [number, number];
  log?: boolean;
  from?: number;
}

/** A learning curve in a chart. */
export interface Line {
  name: string;
  points: Point[];
  model?: string | null;
  colours?: Colours;
  marker?: number;
  paper?: boolean;
  strong?: boolean;
}

/** Texts about tasks and models: ntm.studio.guide. */
export interface Guide {
  tasks: Record<string, TaskGuide>;
  models: Record<string, ModelGuide>;
}

export interface TaskGuide {
  task: string;
  title: string;
  hint: string;
  look_for: string;
  frame: { sequences: number; bits: [number, number] } | null;
  cases: Record<string, number>[];
  /** Default number of training sequences, by model. */
  sequences: Record<string, number>;
}

export interface ModelGuide {
  title: string;
  colours: Colours;
}

/** A network of the list; a network without a memory has no limits for it. */
export type Network = NetworkListed;

export interface TraceRequest {
  network: string;
  problem: Problem;
  memory_locations?: number | null;
}

/** Data source of the play view. The site implements it without a server, by files and a worker. */
export interface Backend {
  guide(): Awaitable<Guide>;
  networks(): Awaitable<Network[]>;
  /** The names of saved traces. */
  traces(): Awaitable<string[]>;
  savedTrace(name: string): Promise<TraceDocument>;
  /** A network, listed or not; null if there is none. */
  network(id: string): Awaitable<Network | null>;
  /** Whether the lists are complete (`whole`), and whether they will stop growing (`read`). */
  folder(): Awaitable<FolderAnswer>;
  /** A random problem. */
  example(network: string, sizes: Sizes, seed: number): Awaitable<Problem>;
  /** The trace of a network on a problem. */
  trace(request: TraceRequest, signal?: AbortSignal): Promise<TraceDocument>;
  /** The trace as a self-contained page that opens at a step and a head. */
  file(request: TraceRequest, view: { step: number; head: number }): Promise<Blob>;
  /** A message for an address that names no known network. */
  missing(network: string): string;
}

/** An address: the view, the id, and the other values as texts. */
export interface Route {
  view: string;
  id: string;
  memory?: string;
  step?: string;
  head?: string;
  tour?: string;
  [name: string]: string | undefined;
}

/** A view of the page, made when it is first shown. */
export interface Shown {
  show(route: Route): unknown;
}
