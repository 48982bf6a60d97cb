/** Types of data, written by `make facts` from the Python package. */

export interface Copy {
  bits: number;
  min_length: number;
  max_length: number;
  start_delimiter: boolean;
  end_marker: boolean;
  structured: number;
}

export interface RepeatCopy {
  bits: number;
  min_length: number;
  max_length: number;
  min_repeats: number;
  max_repeats: number;
  scale_min_repeats: number | null;
  scale_max_repeats: number | null;
  delimiter: string;
  structured: number;
}

export interface AssociativeRecall {
  bits: number;
  item_length: number;
  min_items: number;
  max_items: number;
  close_query: boolean;
}

export interface NGrams {
  length: number;
  context: number;
}

export interface PrioritySort {
  bits: number;
  length: number;
  answers: number;
}
