/** Gains change with time: how far those of a file are from the data, and how much they moved between solutions. */
import { present } from '../../core/present.js';
import { addSeconds, formatInstant, secondsBetween, type Instant } from '../../core/instant.js';
import { DEGREES_PER_RADIAN } from '../../core/units.js';
import type { GainsAt, GainsFile } from '../../formats/index.js';
import { message, type Message } from '../../messages/index.js';
import { commonTurn, usable } from './over-time.js';

/** Gains nearer than this to all of the data are of their time: ten minutes. */
const FAR_S = 600;
/** Between phases that moved by more, a radian, the way from one to the other is uncertain. */
const MOST_TURN_RAD = 1;

export function gainsInTime(
  file: GainsFile,
  path: string,
  { start, durationS }: { readonly start: Instant; readonly durationS: number },
): Message[] {
  const series: readonly GainsAt[] = [file, ...(file.later ?? [])];
  const end = addSeconds(start, durationS);
  const [first, last] = [series[0], series[series.length - 1]];
  const [earlyS, lateS] = [secondsBetween(start, first.time), secondsBetween(last.time, end)];
  const pairs = series.slice(1).map((after, k) => ({ before: series[k], after }));
  // Those that the data lie between or, outside all of them, the nearest two.
  const used = pairs.filter(
    ({ before, after }, k) =>
      (k === 0 || secondsBetween(before.time, end) > 0) &&
      (k === pairs.length - 1 || secondsBetween(start, after.time) > 0),
  );
  const moved = used
    .map(({ before, after }) => ({ before, after, ...movedBetween(file, before, after) }))
    .filter(({ mostRad }) => mostRad > MOST_TURN_RAD);
  const worst = moved.reduce<(typeof moved)[number] | undefined>(
    (most, one) => (most && most.mostRad >= one.mostRad ? most : one),
    undefined,
  );
  return present(
    Math.max(earlyS, lateS) > FAR_S &&
      message('gains.far', {
        path,
        timeUtc: formatInstant((earlyS > lateS ? first : last).time, 0),
        farS: Math.max(earlyS, lateS),
      }),
    worst &&
      message('gains.phases-moved', {
        path,
        inputs: Math.max(...moved.map(({ inputs }) => inputs)),
        of: file.stations.length * file.polarisations,
        mostDeg: worst.mostRad * DEGREES_PER_RADIAN,
        fromUtc: formatInstant(worst.before.time, 0),
        betweenS: secondsBetween(worst.before.time, worst.after.time),
      }),
  );
}

/** Phases relative to what all stations have in common, which visibilities do not depend on. */
function movedBetween(file: GainsFile, before: GainsAt, after: GainsAt): { inputs: number; mostRad: number } {
  const [from, to] = [usable(file, before), usable(file, after)];
  const columns = file.polarisations;
  const inputs = file.stations.length * columns;
  const mostRad = new Float64Array(inputs);
  for (let c = 0; c < file.frequenciesHz.length; c++) {
    const isJoint = from.crossHands[c] === 1 && to.crossHands[c] === 1;
    for (let p = 0; p < columns; p++) {
      const common = commonTurn(from, to, { c, inputs, columns, of: isJoint ? [0, 1] : [p] });
      for (let a = p; a < inputs; a += columns) {
        const at = c * inputs + a;
        if (from.solved[at] * to.solved[at] === 0) continue;
        const [re, im, toRe, toIm] = [from.gains, to.gains].flatMap((all) => [all[2 * at], all[2 * at + 1]]);
        const turn = Math.atan2(toIm * re - toRe * im, toRe * re + toIm * im) - common;
        const own = Math.abs(turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI)));
        mostRad[a] = Math.max(mostRad[a], own);
      }
    }
  }
  return {
    inputs: mostRad.filter((turn) => turn > MOST_TURN_RAD).length,
    mostRad: mostRad.reduce((most, turn) => Math.max(most, turn), 0),
  };
}
