/** Gains of several times whose reference changes. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { CrossHanded } from '../../calibrate/index.js';
import { gainsCA } from '../../core/axes.js';
import { instant } from '../../core/instant.js';
import type { GainsFile } from '../../formats/index.js';
import { toOneReference } from './one-reference.js';
import { gainsAtMoment } from './over-time.js';

const STATIONS = 4;
const INPUTS = 2 * STATIONS;
/**
 * Between the first two stations: a change of reference rotates some of the others by less than half a turn, some by
 * more.
 */
const HALF = Math.PI - 0.2;
/** Phases of inputs, X and Y of each station. */
const TRUE = [0.3, -1, 0.3 + HALF, -1 + HALF, -2.5, 3, 1, -0.2];

/** The solution for those phases, with a drift per station, without some stations. */
function solutionOf(
  missing: readonly number[],
  how: 'unknown' | 'given' | 'model',
  { drift = 0, psi = Number.NaN }: { drift?: number; psi?: number } = {},
): CrossHanded {
  const reference = [0, 1, 2, 3].find((s) => !missing.includes(s)) ?? 0;
  const phases = TRUE.map((phase, a) => phase + drift * Math.floor(a / 2));
  const solved = Uint8Array.from(TRUE, (_, a) => (missing.includes(Math.floor(a / 2)) ? 0 : 1));
  const gains = new Float64Array(2 * INPUTS).fill(Number.NaN);
  // With the sky as reference X and Y keep their difference; else each has its own zero, Y the given one.
  const zeros =
    how === 'model'
      ? [phases[2 * reference], phases[2 * reference]]
      : [phases[2 * reference], phases[2 * reference + 1] - (how === 'given' ? psi : 0)];
  phases.forEach((phase, a) => {
    const angle = phase - zeros[a % 2];
    if (solved[a] === 1) gains.set([2 * Math.cos(angle), 2 * Math.sin(angle)], 2 * a);
  });
  const known = { unknown: Number.NaN, given: psi, model: phases[2 * reference + 1] - phases[2 * reference] }[
    how
  ];
  const solutions = [0, 1].map((polarisation) => ({
    channel: 0,
    polarisation,
    iterations: 1,
    converged: true,
    lastChange: 0,
    residual: 0,
    leftOut: [],
  }));
  return {
    gains: gainsCA(gains, 1, INPUTS),
    solved,
    solutions,
    referenceStation: reference,
    crossHand: { how, phaseRad: Float64Array.of(known) },
  };
}

const fileOf = (series: readonly CrossHanded[]): GainsFile => ({
  telescope: 'four',
  stations: ['a', 'b', 'c', 'd'],
  polarisations: 2,
  frequenciesHz: Float64Array.of(1e8),
  sources: [],
  history: [],
  time: instant(0),
  ...series[0],
  later: series.slice(1).map((one, k) => ({ time: instant(10 * (k + 1)), ...one })),
});

/** Checks the phases of pairs against the true ones, of hands p and q. */
function assertPairs(
  file: GainsFile,
  seconds: number,
  drift: number,
  hands: readonly (readonly [number, number])[],
): void {
  const { gains, solved } = gainsAtMoment(file, instant(seconds));
  const phase = (a: number): number => Math.atan2(gains[2 * a + 1], gains[2 * a]);
  let pairs = 0;
  for (let i = 0; i < STATIONS; i++)
    for (let j = 0; j < STATIONS; j++)
      for (const [p, q] of hands) {
        const [one, two] = [2 * i + p, 2 * j + q];
        if (i === j || solved[one] * solved[two] === 0) continue;
        const off = phase(one) - phase(two) - (TRUE[one] - TRUE[two] + drift * (i - j));
        assert.ok(
          Math.abs(Math.sin(off / 2)) < 1e-9,
          `${seconds} s, inputs ${one} and ${two}: ${off} rad off`,
        );
        pairs++;
      }
  assert.ok(pairs >= 2, String(pairs));
}
const PARALLEL = [[0, 0], [1, 1]] as const; // prettier-ignore
const CROSS = [[0, 1], [1, 0]] as const; // prettier-ignore

it('gains drawn between two times are right whatever their references are', () => {
  const file = fileOf([solutionOf([0], 'unknown'), solutionOf([], 'unknown', { drift: 0.1 })]);
  for (const seconds of [0, 2.5, 5, 7.5]) assertPairs(file, seconds, (0.1 * seconds) / 10, PARALLEL);
  // With the sky as reference X and Y rotate together.
  const held = fileOf([solutionOf([0], 'model'), solutionOf([], 'model', { drift: 0.1 })]);
  for (const seconds of [0, 2.5, 5, 7.5])
    assertPairs(held, seconds, (0.1 * seconds) / 10, [...PARALLEL, ...CROSS]);
});

it('a station that is there at all times is the reference of all', () => {
  for (const how of ['unknown', 'given', 'model'] as const) {
    const found = [[0], [], [3]].map((missing) => solutionOf(missing, how, { psi: 0.7 }));
    const { solutions, by } = toOneReference(found);
    assert.equal(by, 'one');
    for (const { referenceStation, gains, crossHand } of solutions) {
      assert.equal(referenceStation, 1);
      assert.ok(Math.abs(gains[2 * 2 + 1]) < 1e-12 && gains[2 * 2] > 0);
      // For station 1: as given, from the sky, or none.
      const wanted = { unknown: 0, given: 0.7, model: TRUE[3] - TRUE[2] }[how];
      assert.ok(Math.abs(Math.sin((Math.atan2(gains[7], gains[6]) - wanted) / 2)) < 1e-9, how);
      if (how !== 'unknown') assert.ok(Math.abs(Math.sin((crossHand.phaseRad[0] - wanted) / 2)) < 1e-12);
    }
  }
});

it('an angle that was given stays that of the first reference, though another takes its place', () => {
  const { solutions } = toOneReference(
    [[], [0]].map((missing) => solutionOf(missing, 'given', { psi: 0.7 })),
  );
  const wanted = 0.7 + (TRUE[3] - TRUE[2]) - (TRUE[1] - TRUE[0]);
  for (const { referenceStation, gains } of solutions) {
    assert.equal(referenceStation, 1);
    assert.ok(Math.abs(Math.sin((Math.atan2(gains[7], gains[6]) - wanted) / 2)) < 1e-9);
  }
});

it('without one each goes on from the one before, X and Y apart', () => {
  const found = [[0], [1], [2], [3]].map((missing) => solutionOf(missing, 'given', { psi: 0.7 }));
  const { solutions, by } = toOneReference(found);
  assert.equal(by, 'continued');
  for (const { gains } of solutions.slice(0, 3)) {
    // Station 3 relative to station 1, the first's reference, whose Y is at 0.7.
    for (const [a, wanted] of [
      [6, TRUE[6] - TRUE[2]],
      [7, TRUE[7] - TRUE[3] + 0.7],
    ])
      assert.ok(Math.abs(Math.sin((Math.atan2(gains[2 * a + 1], gains[2 * a]) - wanted) / 2)) < 1e-12);
  }
});

it('a time without gains takes none from its neighbours, nor gives them any', () => {
  const good = solutionOf([], 'unknown');
  const none = { ...good, solved: new Uint8Array(INPUTS) };
  const file = fileOf([good, none, good]);
  const known = [0, 1, 10, 15, 20, 25].map((seconds) =>
    gainsAtMoment(file, instant(seconds)).solved.includes(1),
  );
  assert.deepEqual(known, [true, false, false, false, true, true]);
});
