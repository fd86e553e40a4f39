/**
 * What most inputs hear in a channel rarely ends with a window: a tone that drifts away, or fades, is below every limit before
 * it is gone. So windows go with their neighbours (the scale-invariant rank operator of Offringa, van de Gronde & Roerdink
 * 2012): a window is taken where three quarters of some stretch around it are.
 */
const LEFT = 0.25;

/** heard : [n], 1 where something was; those that go with them become 1. Linear: sums of ±, the most after less the least before. */
export function extendRuns(heard: Uint8Array, sums = new Float64Array(heard.length + 1)): void {
  const length = heard.length;
  for (let n = 0; n < length; n++) sums[n + 1] = sums[n] + (heard[n] === 1 ? LEFT : LEFT - 1);
  const most = new Float64Array(length + 1);
  most[length] = sums[length];
  for (let n = length - 1; n >= 0; n--) most[n] = Math.max(sums[n], most[n + 1]);
  let least = Infinity;
  for (let n = 0; n < length; n++) {
    least = Math.min(least, sums[n]);
    if (most[n + 1] - least >= -1e-9) heard[n] = 1;
  }
}
