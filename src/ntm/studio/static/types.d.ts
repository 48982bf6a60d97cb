/** Types that the page's modules share. Data that Python writes alone is in python.d.ts. */

import type {
  Axis, Drawing, FolderAnswer, HeadArray, NGramsProblem, NetworkListed, RecallProblem,
  RepeatCopyProblem, SortProblem,
} from "./python.d.ts";

export type Awaitable<Value> = Value | Promise<Value>;
export type HeadKind = "read" | "write";
/** A part of a learning curve: sequences seen, and the cost in bits. */
export type Point = [number, number];
/** On a light page, on a dark page. */
export type Colours = [string, string];
/** A drawing. Which of its parts there are depends on the task. */
export type Problem = Partial<RepeatCopyProblem & RecallProblem & NGramsProblem & SortProblem>;
export type Sizes = Partial<Record<Axis, number>>;

/** An array: row-major float32. */
export interface Values {
  shape: number[];
  values: Float32Array;
}

/** The same in a file: base64 of little-endian float32. */
export interface EncodedArray {
  shape: number[];
  data: string;
}

export type DocumentArray = Values | EncodedArray;

export interface Labels {
  inputs: string[];
  outputs: string[];
}

/** A trace document; the Python module ntm.studio.documents says what it holds. */
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
  inputs: DocumentArray;
  targets: DocumentArray | null;
  outputs: DocumentArray;
  optimal: DocumentArray | null;
  shifts: number[];
  memory: DocumentArray | null;
  reads: DocumentArray[];
  heads: HeadDocument[];
}

export interface HeadDocument {
  kind: HeadKind;
  index: number;
  arrays: Record<string, DocumentArray>;
}

interface AnyHead extends Record<HeadArray, Values> {
  index: number;
  name: string;
}
export interface ReadHead extends AnyHead {
  kind: "read";
}
export interface WriteHead extends AnyHead {
  kind: "write";
  erases: Values;
  adds: Values;
}
export type Head = ReadHead | WriteHead;
export interface HeadOf {
  read: ReadHead;
  write: WriteHead;
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
  inputs: Values;
  targets: Values | null;
  outputs: Values;
  optimal: Values | null;
  memory: Values | null;
  reads: Values[];
  heads: Head[];
  shifts: number[];
}

/** Some locations of the memory, around its end if need be. */
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

/** What the parts of a viewer may ask of it and of one another. */
export interface TimelineStage {
  tip: Tip;
  goTo(step: number): void;
  step(): number;
  headOf<Kind extends HeadKind>(kind: Kind): HeadOf[Kind] | undefined;
  stretch(): Stretch;
  /** The end of the scale of such values. */
  greatest(values: Float32Array): number;
  /** Which lanes are shown; all where it is not given. */
  lanes?: string[];
  compact?: boolean;
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

/** What a viewer shows of its trace. */
export interface View {
  step: number;
  /** The chosen head's number among all, and of each kind the chosen one's among its kind. */
  head: number;
  read: number;
  write: number;
  /** How many heads there are; null: another network's. */
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

/** What the page says about tasks and models: ntm.studio.guide. */
export interface Guide {
  tasks: Record<string, TaskGuide>;
  models: Record<string, ModelGuide>;
}

export interface TaskGuide {
  task: string;
  title: string;
  hint: string;
  look_for: string;
  drawing: Drawing | null;
  frame: { sequences: number; bits: [number, number] } | null;
  cases: Record<string, number>[];
}

export interface ModelGuide {
  title: string;
  colours: Colours;
}

/** A network of the list; one without a memory has no limits to it. */
export type Network = NetworkListed;

export interface TraceRequest {
  network: string;
  problem: Problem;
  memory_locations?: number | null;
}

/** What the play view asks for. The site without a server has the same, made of files and a worker. */
export interface Backend {
  guide(): Awaitable<Guide>;
  networks(): Awaitable<Network[]>;
  /** The names of saved traces. */
  traces(): Awaitable<string[]>;
  savedTrace(name: string): Promise<TraceDocument>;
  /** A network, listed or not; null if there is none. */
  network(id: string): Awaitable<Network | null>;
  /** Whether these lists have all that there is, and will not grow by themselves. */
  folder(): Awaitable<FolderAnswer>;
  /** A random problem. */
  example(network: string, sizes: Sizes, seed: number): Awaitable<Problem>;
  /** What a network does with a problem. */
  trace(request: TraceRequest, signal?: AbortSignal): Promise<TraceDocument>;
  /** The same as a page of its own, which opens at a step and a head. */
  file(request: TraceRequest, view: { step: number; head: number }): Promise<Blob>;
  /** Why an address leads nowhere, in words. */
  missing(network: string): string;
}

/** An address: what is shown, and the other values as texts. */
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
