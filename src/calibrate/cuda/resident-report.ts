/** What a calibration on the card found, as the host tells it. */
import type { CudaSession, DeviceMemory } from '../../backend/cuda/session.js';
import { downloadInto } from '../../backend/cuda/transfer.js';
import { gainsCA } from '../../core/axes.js';
import { refuseCount, refusePair, refuseTooFew, solveName } from '../batch.js';
import { refuseOpen } from '../groups.js';
import type { LeftOut, LeftOutReason } from '../left-out.js';
import type { CalibrationPlan } from '../plan.js';
import { chooseReference, describeSolve, type Calibration } from '../solve.js';

type Found = Readonly<
  Record<
    'faults' | 'good' | 'reasons' | 'iterations' | 'lastChange' | 'residual' | 'turned' | 'solved',
    DeviceMemory
  >
>;

/** As resident.cuh numbers them; 0 is kept. */
const reasonNames = [
  undefined,
  'flagged',
  'no baselines',
  'no model',
  'no signal',
  'apart',
  'open',
] as const satisfies readonly (LeftOutReason | undefined)[];
const NO_FAULT = 2n ** 64n - 1n;

export async function readResident(
  session: CudaSession,
  plan: CalibrationPlan,
  found: Found,
): Promise<Calibration> {
  const { stations, polarisations, channels, solves } = plan;
  const inputs = stations * polarisations;
  const read = async <Values extends ArrayBufferView>(
    from: DeviceMemory,
    values: Values,
  ): Promise<Values> => {
    await downloadInto(session, from, values);
    return values;
  };
  const faults = await read(found.faults, new BigUint64Array(solves));
  const good = await read(found.good, new Int32Array(solves));
  const reasons = await read(found.reasons, new Uint8Array(solves * stations));
  for (let solve = 0; solve < solves; solve++) {
    refuseFault(solveName(plan, solve), faults[solve]);
    const open = reasons
      .subarray(solve * stations, (solve + 1) * stations)
      .filter((code) => reasonNames[code] === 'open').length;
    if (open > 0) refuseOpen(solveName(plan, solve), open);
    if (good[solve] < 3) refuseTooFew(solveName(plan, solve), good[solve], stations);
  }
  const leftOut = Array.from({ length: solves }, (_, solve) =>
    leftOutOf(reasons.subarray(solve * stations, (solve + 1) * stations)),
  );
  const referenceStation = chooseReference(plan, leftOut);
  const iterations = await read(found.iterations, new Int32Array(solves));
  const lastChange = await read(found.lastChange, new Float64Array(solves));
  const residual = await read(found.residual, new Float64Array(solves));
  const gains = await read(found.turned, new Float64Array(2 * channels * inputs));
  const solved = await read(found.solved, new Uint8Array(channels * inputs));
  for (const [a, isSolved] of solved.entries()) {
    if (isSolved === 0) gains.fill(Number.NaN, 2 * a, 2 * a + 2);
  }
  return {
    gains: gainsCA(gains, channels, inputs),
    solved,
    solutions: leftOut.map((list, solve) =>
      describeSolve(plan, solve, {
        iterations: iterations[solve],
        lastChange: lastChange[solve],
        residual: residual[solve],
        leftOut: list,
      }),
    ),
    referenceStation,
  };
}

const leftOutOf = (reasons: Uint8Array): LeftOut[] =>
  [...reasons].flatMap((code, station) => {
    const reason = reasonNames[code];
    return reason === undefined ? [] : [{ station, reason }];
  });

/** The lowest 4 b + fault. */
function refuseFault(where: string, fault: bigint): void {
  if (fault === NO_FAULT) return;
  const b = Number(fault / 4n);
  let i = 0;
  while (((i + 1) * (i + 2)) / 2 <= b) i++;
  const j = b - (i * (i + 1)) / 2;
  const kind = Number(fault % 4n);
  if (kind === 0) refuseCount(where, i, j, 'negative or not finite');
  refusePair(where, i, j, kind === 1 ? 'visibility' : 'model');
}
