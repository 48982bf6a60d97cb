/**
 * torch's random numbers: the Mersenne Twister of its CPU generator, and torch's distributions. The
 * same seed gives the page and Python the same problems and the same initial weights.
 */

const SIZE = 624;
const TAU = 2 * Math.PI;
// torch draws this many normal numbers at once.
const NORMALS = 16;

export class Generator {
  #state = new Uint32Array(SIZE);
  #next = SIZE;

  /** @param {number} seed */
  constructor(seed) {
    const state = this.#state;
    state[0] = seed;
    for (let i = 1; i < SIZE; i++) {
      state[i] = Math.imul(state[i - 1] ^ (state[i - 1] >>> 30), 1812433253) + i;
    }
  }

  /** 32 random bits. */
  draw() {
    if (this.#next === SIZE) this.#twist();
    let bits = this.#state[this.#next++];
    bits ^= bits >>> 11;
    bits ^= (bits << 7) & 0x9d2c5680;
    bits ^= (bits << 15) & 0xefc60000;
    return (bits ^ (bits >>> 18)) >>> 0;
  }

  #twist() {
    const state = this.#state;
    for (let i = 0; i < SIZE; i++) {
      const joined = (state[i] & 0x80000000) | (state[(i + 1) % SIZE] & 0x7fffffff);
      state[i] = state[(i + 397) % SIZE] ^ (joined >>> 1) ^ (joined & 1 ? 0x9908b0df : 0);
    }
    this.#next = 0;
  }

  /**
   * Whole numbers from low to high, both included.
   * @param {number} low @param {number} high @param {number} count
   */
  integers(low, high, count) {
    return Array.from({ length: count }, () => low + (this.draw() % (high - low + 1)));
  }

  /**
   * Zeros and ones; one draw gives eight of them.
   * @param {number} count
   */
  bits(count) {
    const bits = new Uint8Array(count);
    for (let i = 0, octet = 0; i < count; i++) {
      octet = i % 8 ? octet >> 1 : this.draw();
      bits[i] = octet & 1;
    }
    return bits;
  }

  /**
   * Uniform float32 in [0, 1).
   * @param {number} count
   */
  uniform(count) {
    return Float32Array.from({ length: count }, () => (this.draw() & 0xffffff) / 2 ** 24);
  }

  /** One uniform float64 in [0, 1). */
  double() {
    const high = this.draw() & 0x1fffff;
    return (high * 2 ** 32 + this.draw()) / 2 ** 53;
  }

  /**
   * Normal float32 with mean 0 and variance 1; the count must be a multiple of 16.
   * @param {number} count
   */
  normal(count) {
    const values = this.uniform(count);
    const half = NORMALS / 2;
    for (let at = 0; at < count; at += NORMALS) {
      for (let i = at; i < at + half; i++) {
        const radius = Math.sqrt(-2 * Math.log(1 - values[i]));
        const angle = TAU * values[i + half];
        [values[i], values[i + half]] = [radius * Math.cos(angle), radius * Math.sin(angle)];
      }
    }
    return values;
  }

  /** @param {number} count */
  skip(count) {
    for (let i = 0; i < count; i++) this.draw();
  }
}

/**
 * The seed of a block of a stream; see Python's ntm.runs.stream, which also computes the start.
 * @param {number} start @param {number} block
 */
export function blockSeed(start, block) {
  let seed = (start + block) | 0;
  seed = Math.imul(seed ^ (seed >>> 16), 0x85ebca6b);
  seed = Math.imul(seed ^ (seed >>> 13), 0xc2b2ae35);
  return (seed ^ (seed >>> 16)) >>> 0;
}
