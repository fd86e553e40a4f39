/**
 * Solutions of several times with one phase reference. Each is free by a common phase (of X and of Y apart, where
 * nothing ties them), which its own reference station fixes: where that station changes, all gains rotate at once, and
 * interpolation in between would be wrong.
 */
import type { CrossHanded } from '../../calibrate/index.js';
import { gainsCA } from '../../core/axes.js';
import { commonTurn } from './over-time.js';

interface OneReference<Found extends CrossHanded> {
  readonly solutions: readonly Found[];
  /** `one`: a station that all of them have. `continued`: none is in all, and each continues the one before. */
  readonly by: 'one' | 'continued';
}

/** Uses the reference of the first solution where it is there throughout, else the first station that is. */
export function toOneReference<Found extends CrossHanded>(found: readonly Found[]): OneReference<Found> {
  if (found.length < 2) return { solutions: found, by: 'one' };
  // Solutions without gains are ignored.
  const lead = found.find(({ solved }) => solved.includes(1)) ?? found[0];
  const wanted = lead.referenceStation;
  const stations = Array.from({ length: inputsOf(lead) / columnsOf(lead) }, (_, s) => s);
  const common = [wanted, ...stations].find((station) => found.every((one) => isThere(one, station)));
  if (common !== undefined) {
    const given = givenAt(found, { from: wanted, to: common });
    return { solutions: found.map((one) => referredTo(one, common, given)), by: 'one' };
  }
  const solutions: Found[] = [];
  for (const one of found) solutions.push(continued(one, solutions));
  return { solutions, by: 'continued' };
}

const inputsOf = ({ solved, crossHand }: CrossHanded): number => solved.length / crossHand.phaseRad.length;
/** Columns of a station's matrix, X and Y; one where there is one polarisation. */
const columnsOf = ({ solutions, crossHand }: CrossHanded): number =>
  solutions.length / crossHand.phaseRad.length;

/** Whether a station is solved in every channel and polarisation that has any solution. */
function isThere(one: CrossHanded, station: number): boolean {
  const [inputs, columns] = [inputsOf(one), columnsOf(one)];
  return one.crossHand.phaseRad.every((_, c) =>
    Array.from({ length: columns }, (_unused, p) => p).every(
      (p) => one.solved[c * inputs + station * columns + p] === 1 || !isSolved(one, c, p),
    ),
  );
}

const isSolved = (one: CrossHanded, c: number, p: number): boolean => {
  const [inputs, columns] = [inputsOf(one), columnsOf(one)];
  for (let a = p; a < inputs; a += columns) if (one.solved[c * inputs + a] === 1) return true;
  return false;
};

/** Whether the sky fixes the phase between X and Y, which rotating one of them would break. */
function isHeld({ crossHand, frame }: CrossHanded, c: number): boolean {
  if (frame) return frame.openRotations[c] < 3;
  return crossHand.how !== 'given' && !Number.isNaN(crossHand.phaseRad[c]);
}

const phaseAt = (gains: Float64Array, at: number): number => Math.atan2(gains[2 * at + 1], gains[2 * at]);

/**
 * A given angle refers to the reference of the first solution. For another station it is what solutions with that
 * reference give : [c], NaN where none has the channel.
 */
function givenAt(
  found: readonly CrossHanded[],
  { from, to }: { readonly from: number; readonly to: number },
): Float64Array {
  const inputs = inputsOf(found[0]);
  return found[0].crossHand.phaseRad.map((_, c) => {
    const x = c * inputs + 2 * to;
    const own = found.find(
      (one) =>
        one.referenceStation === from &&
        one.crossHand.how === 'given' &&
        one.solved[x] * one.solved[x + 1] === 1,
    );
    return own ? phaseAt(own.gains, x + 1) - phaseAt(own.gains, x) : Number.NaN;
  });
}

/** Rotates the station's X to real, and its Y to the given phase, or to real where nothing fixes it. */
function referredTo<Found extends CrossHanded>(one: Found, station: number, given: Float64Array): Found {
  const [inputs, columns] = [inputsOf(one), columnsOf(one)];
  const { gains, crossHand } = one;
  const isGiven = crossHand.how === 'given';
  const turned = turnedBack(one, (c, p) => {
    const x = c * inputs + station * columns;
    if (isHeld(one, c)) return phaseAt(gains, x);
    return phaseAt(gains, x + p) - (p === 1 && isGiven && !Number.isNaN(given[c]) ? given[c] : 0);
  });
  const phaseRad = crossHand.phaseRad.map((phase, c) => {
    if (isGiven) return given[c];
    return Number.isNaN(phase) ? phase : phaseAt(turned.gains, c * inputs + station * columns + 1);
  });
  return { ...turned, referenceStation: station, crossHand: { ...crossHand, phaseRad } };
}

/** Rotated so that the inputs it shares with the last earlier solution of the channel continue from there. */
function continued<Found extends CrossHanded>(one: Found, before: readonly Found[]): Found {
  const [inputs, columns] = [inputsOf(one), columnsOf(one)];
  return turnedBack(one, (c, p) => {
    const last = before.findLast((other) => isSolved(other, c, p));
    return last ? commonTurn(last, one, { c, inputs, columns, of: isHeld(one, c) ? [0, 1] : [p] }) : 0;
  });
}

/** Unphases columns of every station: gains of X with the leakage of Y, and vice versa. */
function turnedBack<Found extends CrossHanded>(one: Found, by: (c: number, p: number) => number): Found {
  const channels = one.crossHand.phaseRad.length;
  const [inputs, columns] = [inputsOf(one), columnsOf(one)];
  const gains = gainsCA(one.gains.slice(), channels, inputs);
  const leakage = one.leakage && gainsCA(one.leakage.slice(), channels, inputs);
  for (let c = 0; c < channels; c++) {
    for (let p = 0; p < columns; p++) {
      if (!isSolved(one, c, p)) continue;
      const angle = by(c, p);
      for (let s = c * inputs; s < (c + 1) * inputs; s += columns) {
        turn(gains, s + p, angle);
        if (leakage) turn(leakage, s + 1 - p, angle);
      }
    }
  }
  return { ...one, gains, ...(leakage && { leakage }) };
}

function turn(values: Float64Array, at: number, angle: number): void {
  const [re, im, cosine, sine] = [values[2 * at], values[2 * at + 1], Math.cos(angle), -Math.sin(angle)];
  values[2 * at] = re * cosine - im * sine;
  values[2 * at + 1] = re * sine + im * cosine;
}
