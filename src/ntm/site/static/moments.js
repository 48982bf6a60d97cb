/**
 * Moments worth seeing. Of each: the network, the problem (sizes and the seed it is drawn with),
 * where to look (step, head, both from 0), the lanes of its picture and three sentences.
 */

/** @import { Sizes } from "../../studio/static/types.d.ts" */
/**
 * @typedef {{ title: string, network: string, sizes: Sizes, seed: number, step: number,
 *   head: number, lanes: string[], sentences: string[] }} Moment
 */

/** @type {Moment[]} */
export const MOMENTS = [
  {
    title: "A copy of 120",
    network: "pretrained:copy-ff", sizes: { length: 120 }, seed: 1, step: 180, head: 1,
    lanes: ["Output", "write", "read"],
    sentences: [
      "In training it never saw more than 20 vectors; here are 120.",
      "What it learned is not a list of answers but a procedure: write, step on, and later read from the start.",
      "The memory is a ring: a head that leaves at one end comes in again at the other.",
    ],
  },
  {
    title: "The walk of the heads",
    network: "pretrained:copy-ff", sizes: { length: 20 }, seed: 2, step: 30, head: 1,
    lanes: ["write", "read"],
    sentences: [
      "While it listens, the write head gives every vector a location of its own.",
      "At the delimiter the read head goes to where the first one lies.",
      "Then it walks the same way again, one location a step: the two slanted lines are parallel.",
    ],
  },
  {
    title: "The goto of repeat copy",
    network: "pretrained:repeat-copy-lstm", sizes: { length: 6, repeats: 5 }, seed: 3, step: 19, head: 1,
    lanes: ["Output", "read"],
    sentences: [
      "The same vectors are said five times.",
      "Each time the read head reaches the last of them, it jumps back to the first: it finds the location beside it by its content, and the gate opens wide for this one step.",
      "It is a goto, in a loop that the network found by itself. In between, the gate closes a little further with every pass: one can see it count.",
    ],
  },
  {
    title: "A queue instead",
    network: "pretrained:repeat-copy-ff", sizes: { length: 20, repeats: 10 }, seed: 5, step: 100, head: 1,
    lanes: ["Output", "write", "read"],
    sentences: [
      "Twenty vectors, ten times: twice as long as anything in training.",
      "This network does not jump back: whatever the read head reads, the write head writes again further on, and so there is always a next copy to read.",
      "Old copies are overwritten, so the memory never fills up: it learned that with 48 locations.",
    ],
  },
  {
    title: "Recall's jump",
    network: "pretrained:associative-recall-lstm", sizes: { items: 6 }, seed: 4, step: 29, head: 1,
    lanes: ["Output", "write", "read"],
    sentences: [
      "Six items go by, each a few vectors, and then one of them comes again as a question.",
      "The read head jumps to where that item lies, because its content is like the question.",
      "What is asked for is the item after it, so from there the head walks on.",
    ],
  },
  {
    title: "The n-grams table",
    network: "pretrained:ngrams-lstm", sizes: { length: 200 }, seed: 5, step: 120, head: 0,
    lanes: ["Output", "Optimum", "write", "read"],
    sentences: [
      "Each bit follows from the five before it, by odds that are new in every sequence.",
      "Whenever the same five bits come again, the read head returns to the same location.",
      "What lies there was left by the bits that followed them before, and the predictions come close to the best possible ones.",
    ],
  },
  {
    title: "Sort's line",
    network: "pretrained:priority-sort-ff", sizes: { length: 20 }, seed: 71, step: 12, head: 7,
    lanes: ["Output", "write", "read"],
    sentences: [
      "Twenty vectors arrive in any order, each with a priority.",
      "One head writes each to a location that is a straight line over its priority.",
      "So the memory is the sorted list, and to answer a read head only walks along it, from the highest priority down.",
    ],
  },
];
