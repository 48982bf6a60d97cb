/** Types of data, written by `make facts` from the Python package. */

export interface NTMConfig {
  input_size: number;
  output_size: number;
  controller: "feedforward" | "lstm";
  controller_size: number;
  controller_layers: number;
  memory_locations: number;
  memory_width: number;
  read_heads: number;
  write_heads: number;
  shifts: number[];
  shift_mode: "softmax" | "scalar";
}

export interface Initialisation {
  start_memory: "constant" | "random";
  start_spread: number;
  start_together: boolean;
  head_gain: number;
  gate_bias: number;
}

export interface OptimiserSettings {
  learning_rate: number;
  halve_every: number;
  halve_after: number;
  decay: number;
  momentum: number;
  epsilon: number;
  clip: number | null;
  backward_clip: number | null;
  backward_clip_until: number | null;
}

export interface TrainingSettings {
  sequences: number;
  batch_size: number;
  bucketed: boolean;
  memory_locations: number | null;
  seed: number;
  engine: string;
  device: string;
  threads: number;
  report_every: number;
  validate_every: number;
  validation_sequences: number;
  validate_beyond: string;
  mixture: string;
  start_from: string | null;
  starts: number;
  trial_sequences: number;
  enough_bits: number;
  average_share: number;
  checkpoint_seconds: number;
  picture_seconds: number;
  stop_when_solved: boolean;
  solved_bits: number;
  solved_window: number;
  stop_after_seconds: number | null;
}
