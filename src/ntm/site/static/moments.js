/**
 * Moments worth seeing. Each has a network, a problem (its sizes and the seed of the sample), a
 * step and a head to look at (both from 0), the lanes of its picture and three sentences. A scatter
 * shows the locations of a head against a property of the input.
 */

/** @import { Sizes } from "../../studio/static/types.d.ts" */
/** @import { Property } from "./scatter.js" */
/**
 * @typedef {{ title: string, network: string, sizes: Sizes, seed: number, step: number,
 *   head: number, lanes: string[], sentences: string[],
 *   scatter?: { head: number, property: Property } }} Moment
 */

/** @type {Moment[]} */
export const MOMENTS = [
  {
    title: "A copy of 120",
    network: "pretrained:copy-ff", sizes: { length: 120 }, seed: 1, step: 180, head: 1,
    lanes: ["Output", "write", "read"],
    sentences: [
      "In training, the network never saw more than 20 vectors; here are 120.",
      "It learned a procedure, not a list of answers: write, move on, and later read from the start.",
      "The memory is a ring: a head that leaves at one end enters at the other.",
    ],
  },
  {
    title: "The walk of the heads",
    network: "pretrained:copy-ff", sizes: { length: 20 }, seed: 2, step: 30, head: 1,
    lanes: ["write", "read"],
    sentences: [
      "During the input, the write head stores every vector in its own location.",
      "At the delimiter, the read head moves to the first vector.",
      "Then it follows the path of the write head, one location per step: the two slanted lines are parallel.",
    ],
  },
  {
    title: "The goto of repeat copy",
    network: "pretrained:repeat-copy-lstm", sizes: { length: 6, repeats: 5 }, seed: 3, step: 19, head: 1,
    lanes: ["Output", "read"],
    sentences: [
      "The network repeats the same vectors five times.",
      "Each time after the last vector, the read head jumps back to the first. It finds the location next to the first vector by content, and the gate opens wide for this one step.",
      "This is a goto, in a loop that the network learned by itself. Between the jumps, the gate closes a little more with every pass: you can see the network count.",
    ],
  },
  {
    title: "A queue instead",
    network: "pretrained:repeat-copy-ff", sizes: { length: 20, repeats: 10 }, seed: 5, step: 100, head: 1,
    lanes: ["Output", "write", "read"],
    sentences: [
      "Twenty vectors, ten times: twice as long as anything in training.",
      "This network does not jump back. The write head copies every vector that was read to a later location, so there is always a next copy to read.",
      "Old copies are overwritten, so the memory never fills up. The network learned this with 48 locations.",
    ],
  },
  {
    title: "Recall's jump",
    network: "pretrained:associative-recall-lstm", sizes: { items: 6 }, seed: 4, step: 29, head: 1,
    lanes: ["Output", "write", "read"],
    sentences: [
      "The network receives six items of a few vectors each, and then one of them again as a query.",
      "The read head jumps to the location of that item, because the content there resembles the query.",
      "The answer is the next item, so the head walks on from there.",
    ],
  },
  {
    title: "The n-grams table",
    network: "pretrained:ngrams-lstm", sizes: { length: 200 }, seed: 5, step: 120, head: 1,
    lanes: ["Output", "Optimum"], scatter: { head: 1, property: "context" },
    sentences: [
      "Each bit depends on the five bits before it, with odds that are new in every sequence.",
      "Whenever the same five bits come again, the read head returns to the same location: the dots of each column lie on one another.",
      "This location records which bits followed before, and the predictions come close to the best possible ones.",
    ],
  },
  {
    title: "Sort's line",
    network: "pretrained:priority-sort-ff", sizes: { length: 20 }, seed: 71, step: 12, head: 7,
    lanes: ["write", "read"], scatter: { head: 7, property: "priority" },
    sentences: [
      "Twenty vectors arrive in any order, each with a priority.",
      "One head writes each vector to a location that depends linearly on its priority: the dots lie on a line.",
      "So the memory is the sorted list. To answer, a read head only walks along the list, from the highest priority down.",
    ],
  },
];
