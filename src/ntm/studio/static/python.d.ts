/** Types of data, written by `make facts` from the Python package. */

export type Axis = "items" | "length" | "repeats";

export type HeadKind = "read" | "write";

export type PartKind = "bits" | "numbers" | "choice" | "text";

export type Role = "memory" | "weighting" | "vector" | "lane" | "detail";

export type RunState = "running" | "stopped" | "finished" | "failed" | "unreadable";

export interface SizeRange {
  min: number;
  max: number;
  trained: [number, number];
  default: number;
}

export interface FormPart {
  name: string;
  kind: "bits" | "numbers" | "choice" | "text";
  axis: string;
  shape: number[];
}

export interface ProblemForm {
  parts: FormPart[];
  context: number;
  sizes: Record<string, SizeRange>;
}

export interface Limits {
  max_steps: number;
  max_locations: number | null;
  max_location_steps: number | null;
}

export interface NetworkListed {
  id: string;
  title: string;
  task: string;
  model: string;
  sequences: number | null;
  bits: number | null;
  memory_locations: number | null;
  limits: Limits;
  problem: ProblemForm;
}

export interface RunListed {
  name: string;
  state: "running" | "stopped" | "finished" | "failed" | "unreadable";
  task: string | null;
  model: string | null;
  seed: number | null;
  reason: string | null;
  sequences: number;
  bits: number | null;
  total: number | null;
  at_most: boolean;
  can_stop: boolean;
  speed: number | null;
}

export interface RunsAnswer {
  runs: RunListed[];
  whole: boolean;
  read: boolean;
}

export interface FolderAnswer {
  whole: boolean;
  read: boolean;
}

export interface Curve {
  points: [number, number][];
  generation: number;
}

export interface RunName {
  name: string;
}

export interface Deleted {
  name: string;
  was_there: boolean;
}

export interface CopyProblem {
  vectors: number[][];
}

export interface RepeatCopyProblem {
  vectors: number[][];
  repeats: number;
}

export interface AssociativeRecallProblem {
  items: number[][][];
  query: number;
}

export interface NGramsProblem {
  bits: number[];
}

export interface PrioritySortProblem {
  vectors: number[][];
  priorities: number[];
}
