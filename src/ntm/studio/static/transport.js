/** Controls for moving through time: play and pause, single steps, a slider, and the speed. */

import { make, makeSvg } from "./dom.js";

/** @import { Stage, Trace } from "./types.d.ts" */
/** @typedef {Pick<Stage, "step" | "goTo">} Stepping */
/**
 * @typedef {{ playing: boolean, speed: number, play: () => void, toggle: () => void,
 *   pause: () => void }} Player
 */

const SPEEDS = [2, 4, 8, 16, 32, 64];
const SECONDS_TO_PLAY = 12;
/** Milliseconds of delay that playing catches up with. After a longer pause no step is skipped. */
const MOST_LATE = 50;

const ICONS = {
  start: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M11 3v10L4 8z",
  play: "M4 2.5v11L13.5 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  forward: "M5 3v10l7-5z",
  end: "M11 3h2v10h-2zM3 3v10l7-5z",
};

/**
 * `stage` is { step(), goTo(step) }; the owner calls `show(step)` whenever the step changes. `view`
 * stores whether the trace is playing, and the speed.
 * @param {Trace} trace @param {Stepping} stage @param {{ playing: boolean, speed: number | null }} view
 */
export function makeTransport(trace, stage, view) {
  const last = trace.steps - 1;
  const player = makePlayer(last, stage, (playing) => {
    view.playing = playing;
    playButton.replaceChildren(icon(playing ? "pause" : "play"));
    playButton.setAttribute("aria-label", playing ? "Pause" : "Play");
  });
  const playButton = iconButton("play", "Play", player.toggle);
  playButton.classList.add("primary");
  const slider = make("input", { type: "range", min: 0, max: last, step: 1, "aria-label": "Step" });
  slider.addEventListener("input", () => stage.goTo(Number(slider.value)));
  const readout = make("output", { class: "readout" });
  const element = make(
    "div",
    { class: "transport", role: "group", "aria-label": "Move through time" },
    playButton,
    iconButton("start", "First step", () => stage.goTo(0)),
    iconButton("back", "One step back", () => stage.goTo(stage.step() - 1)),
    iconButton("forward", "One step forward", () => stage.goTo(stage.step() + 1)),
    iconButton("end", "Last step", () => stage.goTo(last)),
    slider, readout, speedChoice(trace, player, view),
  );

  /** @param {number} step */
  function show(step) {
    slider.value = String(step);
    slider.setAttribute("aria-valuetext", stepInWords(trace, step));
    readout.textContent = `step ${step + 1} of ${trace.steps}`;
  }
  return { element, show, player };
}

/** @param {Trace} trace @param {number} step */
export function stepInWords(trace, step) {
  const phase = trace.answering.has(step) ? "answering" : "listening";
  return `step ${step + 1} of ${trace.steps}, ${phase}`;
}

/**
 * Advances the step by the clock and stops at the last step; playing again starts at the first.
 * @param {number} last @param {Stepping} stage @param {(playing: boolean) => void} onChange
 * @returns {Player}
 */
function makePlayer(last, stage, onChange) {
  /** @type {Player} */
  const player = { playing: false, speed: 8, play, toggle, pause };
  let due = 0;

  function toggle() {
    if (player.playing) return pause();
    if (stage.step() === last) stage.goTo(0);
    play();
  }
  function play() {
    player.playing = true;
    due = performance.now() + 1000 / player.speed;
    onChange(true);
    requestAnimationFrame(advance);
  }
  function pause() {
    if (!player.playing) return;
    player.playing = false;
    onChange(false);
    stage.goTo(stage.step());
  }
  /** @param {number} now */
  function advance(now) {
    if (!player.playing) return;
    if (now >= due) {
      due = Math.max(due, now - MOST_LATE);
      const steps = 1 + Math.floor(((now - due) * player.speed) / 1000);
      due += (steps * 1000) / player.speed;
      stage.goTo(stage.step() + steps);
    }
    if (stage.step() === last) pause();
    else requestAnimationFrame(advance);
  }
  return player;
}

/** @param {Trace} trace @param {Player} player @param {{ speed: number | null }} view */
function speedChoice(trace, player, view) {
  const usual = SPEEDS.find((speed) => speed >= 8 && trace.steps / speed <= SECONDS_TO_PLAY) ?? 64;
  player.speed = view.speed ?? usual;
  const choice = make("select", { "aria-label": "Speed" });
  for (const speed of SPEEDS) {
    const selected = speed === player.speed;
    choice.append(make("option", { value: speed, selected }, `${speed} steps/s`));
  }
  choice.addEventListener("change", () => {
    player.speed = view.speed = Number(choice.value);
  });
  return choice;
}

/** @param {keyof typeof ICONS} name @param {string} label @param {() => void} onClick */
function iconButton(name, label, onClick) {
  const named = { "aria-label": label, title: label };
  const button = make("button", { type: "button", class: "icon", ...named }, icon(name));
  button.addEventListener("click", onClick);
  return button;
}

/** @param {keyof typeof ICONS} name */
function icon(name) {
  const path = makeSvg("path", { d: ICONS[name], fill: "currentColor" });
  const size = { viewBox: "0 0 16 16", width: 16, height: 16 };
  return makeSvg("svg", { ...size, "aria-hidden": "true" }, path);
}
