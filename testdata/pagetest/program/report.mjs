// Reports tests to the Go test that runs this program: one JSON object a line.

/**
 * Runs one test and reports how it went.
 * @param {string} name
 * @param {() => unknown} body
 */
export async function test(name, body) {
  let error = "";
  const began = performance.now();
  try {
    await body();
  } catch (cause) {
    error = cause instanceof Error ? cause.stack ?? cause.message : String(cause);
  }
  console.log(JSON.stringify({ name, error, ms: Math.round(performance.now() - began) }));
}

/** Same numbers in every run: mulberry32. */
export function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
