/** How close a backend's spectra must be to the reference's. */
import assert from 'node:assert/strict';
import { type SpectraCAT, type SpectraType } from '../core/axes.js';
import type { SpectraGap } from '../core/gaps.js';
import { highNibble, lowNibble } from '../core/nibbles.js';
import type { ChannelisePlan } from './plan.js';

/** The output of a run of blocks. */
export interface Channelised {
  readonly blocks: readonly {
    readonly samples: number;
    readonly gaps: readonly SpectraGap[];
    readonly spectra: SpectraCAT;
  }[];
  readonly saturated: number;
  readonly produced: number;
}

/** Fewer samples than this cannot distinguish 99.9 % from 99.8 %. */
const ENOUGH = 2000;

export function assertClose(plan: ChannelisePlan, actual: Channelised, expected: Channelised): void {
  assert.equal(actual.produced, expected.produced);
  assert.equal(actual.blocks.length, expected.blocks.length);
  let parts = 0;
  let different = 0;
  actual.blocks.forEach((block, n) => {
    const wanted = expected.blocks[n];
    assert.equal(block.samples, wanted.samples, `spectra in block ${n}`);
    assert.deepEqual(block.gaps, wanted.gaps, `gaps of block ${n}`);
    assert.equal(block.spectra.length, wanted.spectra.length);
    const tolerance = plan.outputType === 'cf32' ? floatTolerance(plan, wanted.spectra) : 1;
    const got = asParts[plan.outputType](block.spectra);
    const want = asParts[plan.outputType](wanted.spectra);
    for (let k = 0; k < got.length; k++) {
      if (got[k] !== want[k]) different++;
      if (Math.abs(got[k] - want[k]) <= tolerance) continue;
      assert.fail(`block ${n}, ${place(plan, k, block.samples)}: ${got[k]}, not ${want[k]} ± ${tolerance}`);
    }
    parts += got.length;
  });
  if (plan.outputType !== 'cf32' && parts >= 2 * ENOUGH) {
    // A complex sample differs if either part does: half as many parts may.
    assert.ok(
      different <= parts * 0.0005,
      `${different} of ${parts} parts are a step off, more than 1 in 2000`,
    );
  }
  // A value at the rail's rounding edge may count as saturated for only one of them.
  assert.ok(Math.abs(actual.saturated - expected.saturated) <= parts * 0.0005 + 1, 'saturated');
}

/**
 * float32: in the worst case, a transform of P points as plain sums rounds P times by 2⁻²⁴ of the rms, a random walk of
 * √P; the filter adds √T; eight standard deviations of that.
 */
function floatTolerance(plan: ChannelisePlan, spectra: SpectraCAT): number {
  let power = 0;
  for (const part of spectra) power += part * part;
  const rms = Math.sqrt(power / Math.max(1, spectra.length / 2));
  return 8 * 2 ** -24 * rms * (Math.sqrt(plan.samplesPerSpectrum) + Math.sqrt(plan.taps));
}

function place(plan: ChannelisePlan, part: number, samples: number): string {
  const row = Math.floor(part / 2 / samples);
  const spectrum = Math.floor(part / 2) % samples;
  const which = part % 2 === 0 ? 're' : 'im';
  return `channel ${Math.floor(row / plan.inputs)}, input ${row % plan.inputs}, spectrum ${spectrum}, ${which}`;
}

const asParts = {
  ci8: (spectra) => Float64Array.from(spectra),
  cf32: (spectra) => Float64Array.from(spectra),
  ci4: (spectra) => {
    const parts = new Float64Array(2 * spectra.length);
    spectra.forEach((byte, n) => {
      parts[2 * n] = highNibble(byte);
      parts[2 * n + 1] = lowNibble(byte);
    });
    return parts;
  },
} satisfies Record<SpectraType, (spectra: SpectraCAT) => Float64Array>;
