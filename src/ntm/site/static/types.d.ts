/** Types of the site's data, which ntm.site.catalogue writes, and of messages to the worker. */

import type { Network as Machine, Tensor } from "../../engine/web/engine.js";
import type {
  Initialisation, NTMConfig, OptimiserSettings, TrainingSettings,
} from "../../engine/web/python.d.ts";
import type { Axis, PartKind } from "../../studio/static/python.d.ts";
import type {
  Guide, Labels, Point, Problem, TaskGuide, TraceDocument,
} from "../../studio/static/types.d.ts";

export type Tensors = Record<string, Tensor>;
/** A task's settings by their Python names. */
export type TaskSettings = Record<string, number | boolean | string | string[] | null>;

/** Content of data/site.json. */
export interface Catalogue extends Guide {
  tasks: Record<string, TaskFacts>;
  networks: NetworkFacts[];
  /** Networks for comparison, which are not listed. */
  baselines: NetworkFacts[];
  /** Settings for training, by task and model. */
  training: Record<string, Record<string, Settings>>;
  /** Starts of the random streams, by the seed of a run. */
  streams: Record<"weights" | "training", Record<string, number>>;
  limits: PageLimits;
}

export interface PageLimits {
  max_steps: number;
  max_cells: number;
  max_locations: number;
  max_values: number;
}

/** A task that can be drawn. */
export interface TaskFacts extends TaskGuide {
  axes: Axis[];
  smallest: Partial<Record<Axis, number>>;
  defaults: TaskSettings;
  parts: { name: string; axes: string[]; kind: PartKind }[];
  channels: (Labels & { options: TaskSettings })[];
  readable_bits: number;
}

export interface NetworkFacts {
  id: string;
  title: string;
  task: string;
  task_settings: TaskSettings;
  model: string;
  config: NTMConfig;
  sequences: number | null;
  bits: number | null;
  initialisation?: Initialisation;
  /** File of the weights; none for untrained networks and the visitor's own. */
  file?: string | null;
  /** Start of the random stream of its weights, if it is untrained. */
  stream?: number;
}

/** The sections of a run's config.json. */
export interface Settings {
  task: TaskSettings;
  model: NTMConfig;
  optimiser: OptimiserSettings;
  training: TrainingSettings;
  initialisation: Initialisation;
}

/** A network that runs in a worker: its weights are in a file, stored in the worker, or random. */
export type Run = Pick<
  NetworkFacts, "id" | "config" | "task_settings" | "file" | "initialisation" | "stream">;

export interface About {
  title?: string;
  hint?: string | null;
  model?: string;
}

export interface TrainRequest {
  facts: TaskFacts;
  settings: Settings;
  starts: { training: number; weights: number };
  /** The problem on which the page shows the network. */
  problem: Problem;
  /** Number of sequences to train on. */
  most: number;
  /** Number of sequences between pictures; by default, pictures come at a steady rate. */
  pictureEvery?: number;
  /** Milliseconds to wait after each picture. */
  wait?: number;
}

/** A part of a network that can be turned off. */
export type Switch = "content" | "interpolation" | "shift" | "sharpening" | "erase";
/** A number that a visitor writes into the memory after a step; without a component, all of a location. */
export interface Edit {
  step: number;
  location: number;
  component: number | null;
  value: number;
}
/** A value that the write heads get at one step instead of the controller's. */
export interface Fix {
  step: number;
  part: Exclude<Switch, "erase">;
  value: number;
}
/** Changes to a network that a visitor makes to see what breaks. */
export interface Damage {
  without?: Switch[];
  edit?: Edit | null;
  fix?: Fix | null;
}

/** Requests of the page to the worker. */
export interface Answers {
  /** Store a network's weights, which are in no file of the site. */
  keep(request: { id: string; tensors: Tensors }): void;
  trace(request: {
    network: Run; facts: TaskFacts; problem: Problem; locations?: number | null; about: About;
    damage?: Damage;
  }): Promise<TraceDocument>;
  train(request: TrainRequest): Promise<void>;
  /** Wait this many milliseconds after every report of the current training. */
  pace(request: { wait: number }): Promise<void>;
  stop(request: object): Promise<{ tensors: Tensors; sequences: number }>;
}

/** Report of the worker during training. */
export interface Progress {
  points: Point[];
  sequences: number;
  seconds: number;
  done: boolean;
  /** Why training cannot continue, for instance because it diverged. */
  trouble?: string;
  picture?: TraceDocument;
}

export type Question = {
  [Name in keyof Answers]: { number: number; ask: Name } & Parameters<Answers[Name]>[0];
}[keyof Answers];
export interface Message {
  number: number;
  answer?: unknown;
  error?: string;
  progress?: Progress;
}

/** The page's function for requests to the worker. */
export type Ask = <Name extends keyof Answers>(
  ask: Name, request: Parameters<Answers[Name]>[0]) => Promise<Awaited<ReturnType<Answers[Name]>>>;

/** A batch of one sequence. */
export interface Sequence {
  steps: number;
  sequences: number;
  inputs: Float32Array;
  targets: Float32Array;
  mask: Float32Array;
}

export type { Machine, Tensor };
