/**
 * Shared cases for every phase rotator of channelised data, registered in each backend's own test file. The reference
 * works in float64 and rounds once; others are within a millionth of each sample's size.
 */
import assert from 'node:assert/strict';
import type { Backend } from '../../backend/backend.js';
import { backendCases, type CaseOptions } from '../../backend/cases.js';
import { allocateSpectra, type SpectraCAT } from '../../core/axes.js';
import { CorellaError } from '../../core/errors.js';
import type { SpectraGap } from '../../core/gaps.js';
import { highNibble, lowNibble, packNibbles } from '../../core/nibbles.js';
import { randomStream } from '../../core/random.js';
import { delayModels, type DelayModel } from '../../delay/index.js';
import { prepareTurner } from './index.js';
import { planTurning, type TurningPlan } from './plan.js';
import { turnSpectra } from './reference.js';

interface Piece {
  readonly samples: number;
  readonly gaps?: readonly SpectraGap[];
}

/** Of a sample's size: seven roundings of float32 would be 4e-7. */
const WITHIN = 1e-6;

/** Garbage beforehand, one time range after the other. */
async function turnAll(
  plan: TurningPlan,
  backend: Backend,
  delayModel: DelayModel,
  first: number,
  pieces: readonly (Piece & { readonly spectra: SpectraCAT })[],
): Promise<{ readonly spectra: SpectraCAT; readonly gaps: readonly SpectraGap[] }[]> {
  const { type, channels, inputs } = plan;
  const most = Math.max(...pieces.map(({ samples }) => samples));
  const given = backend.allocateSpectra({ type, channels, inputs, capacity: most + 5 });
  const out = backend.allocateSpectra({ type: 'cf32', channels, inputs, capacity: most + 2 });
  const turner = await prepareTurner(plan, backend);
  const garbage = allocateSpectra('cf32', channels, inputs, most + 2).fill(1e9);
  const made = [];
  let next = first;
  for (const { spectra, samples, gaps } of pieces) {
    await out.write(garbage, most + 2);
    await given.write(spectra, samples, gaps);
    await turner.run(given, out, delayModel, next);
    assert.equal(out.samples, samples);
    made.push({ spectra: await out.read(), gaps: out.gaps });
    next += samples;
  }
  await turner.close();
  await out.close();
  await given.close();
  return made;
}

function noise({ type, channels, inputs }: TurningPlan, samples: number, seed: number): SpectraCAT {
  const random = randomStream(seed, 'turning');
  const spectra = allocateSpectra(type, channels, inputs, samples);
  for (let n = 0; n < spectra.length; n++) {
    if (type === 'ci8') spectra[n] = random.below(255) - 127;
    else if (type === 'ci4') spectra[n] = packNibbles(random.below(15) - 7, random.below(15) - 7);
    else spectra[n] = 100 * random.gaussian();
  }
  return spectra;
}

const sizeOf = (type: TurningPlan['type'], spectra: SpectraCAT, n: number): number =>
  type === 'ci4'
    ? Math.hypot(highNibble(spectra[n]), lowNibble(spectra[n]))
    : Math.hypot(spectra[2 * n], spectra[2 * n + 1]);

/** Kilometres at gigahertz: thousands of turns, and pieces that begin anywhere, for some inputs before others. */
function movingDelayModel(inputs: number, spectrumRateHz: number, first: number): DelayModel {
  const delayModel = delayModels(
    inputs,
    Float64Array.from({ length: inputs }, (_, a) => a * 1e-9),
  );
  for (let a = 0; a < inputs; a++) {
    const piece = {
      delayS: 13.3e-6 * (a / inputs - 0.4),
      delayRate: 9.7e-10 * (a - 2),
      phaseRad: 0.7 * a,
      phaseRateRadS: (a % 3) * 0.11 * spectrumRateHz,
    };
    delayModel.load(a, { ...piece, fromTick: BigInt(first - 1000 * a) });
    delayModel.load(a, { ...piece, fromTick: BigInt(first + 37 + (a % 2) * 6), delayS: -2e-6 + 1e-7 * a });
  }
  return delayModel;
}

export function turningCases(open: () => Promise<Backend>, options: CaseOptions = {}): void {
  backendCases('every turner', open, options, (theCase, backend) => {
    const agree = async (
      shape: Pick<TurningPlan, 'type' | 'channels' | 'inputs'>,
      pieces: readonly Piece[],
      first = 0,
    ): Promise<void> => {
      const spectrumRateHz = 25_600;
      // A gap in the band: channels need not be evenly spaced.
      const frequenciesHz = Float64Array.from(
        { length: shape.channels },
        (_, c) => 1.4e9 + 25_600 * c + (c > 2 ? 3.3e6 : 0),
      );
      const plan = planTurning({ ...shape, spectrumRateHz, frequenciesHz });
      const delayModel = movingDelayModel(shape.inputs, spectrumRateHz, first);
      const given = pieces.map((piece, n) => ({ ...piece, spectra: noise(plan, piece.samples, n) }));
      const made = await turnAll(plan, backend(), delayModel, first, given);
      let next = first;
      given.forEach(({ spectra, samples, gaps }, n) => {
        const wanted = turnSpectra(plan, { spectra, samples }, delayModel, next);
        assert.equal(made[n].spectra.length, wanted.length);
        for (let k = 0; k < wanted.length / 2; k++) {
          const got = made[n].spectra;
          const off = Math.hypot(got[2 * k] - wanted[2 * k], got[2 * k + 1] - wanted[2 * k + 1]);
          const size = sizeOf(shape.type, spectra, k);
          assert.ok(off <= WITHIN * size, `piece ${n}, value ${k}: off by ${off} of ${size}`);
        }
        assert.deepEqual(made[n].gaps, gaps ?? []);
        next += samples;
      });
    };

    for (const type of ['ci8', 'ci4', 'cf32'] as const) {
      theCase(`${type}: phases of every channel, input and spectrum`, async () => {
        await agree({ type, channels: 5, inputs: 6 }, [{ samples: 64 }, { samples: 1 }, { samples: 21 }]);
        await agree({ type, channels: 1, inputs: 1 }, [{ samples: 3 }]);
      });

      theCase(
        `${type}: more inputs than a tile holds, blocks of several tiles, a day after the start`,
        async () => {
          await agree({ type, channels: 2, inputs: 35 }, [{ samples: 130 }, { samples: 77 }], 2_211_840_123);
        },
      );
    }

    theCase('gaps go along, and so does nothing at all', async () => {
      const gap = { firstInput: 1, endInput: 3, firstChannel: 0, endChannel: 2 };
      await agree({ type: 'ci8', channels: 3, inputs: 4 }, [
        { samples: 20, gaps: [{ ...gap, firstSample: 5, endSample: 9 }] },
        { samples: 0 },
        { samples: 9 },
      ]);
    });

    theCase('blocks of another shape are refused', async () => {
      const shape = { type: 'ci8', channels: 2, inputs: 3 } as const;
      const plan = planTurning({ ...shape, spectrumRateHz: 1, frequenciesHz: Float64Array.of(1, 2) });
      const turner = await prepareTurner(plan, backend());
      const delayModel = delayModels(3);
      const given = backend().allocateSpectra({ ...shape, capacity: 8 });
      await given.write(noise(plan, 8, 1), 8);
      const refused = async (asked: { type: 'ci8' | 'cf32'; inputs: number; capacity: number }) => {
        const out = backend().allocateSpectra({ ...shape, ...asked });
        await assert.rejects(async () => turner.run(given, out, delayModel, 0), CorellaError);
        await out.close();
      };
      await refused({ type: 'ci8', inputs: 3, capacity: 8 });
      await refused({ type: 'cf32', inputs: 4, capacity: 8 });
      await refused({ type: 'cf32', inputs: 3, capacity: 7 });
      await given.close();
      await turner.close();
    });
  });
}
