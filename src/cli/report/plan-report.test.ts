/** Text output of a plan. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  planImaging,
  type KernelCosts,
  type Plan,
  workloadOf,
  type WorkloadOptions,
} from '../../planner/index.js';
import { loadTelescope } from '../../telescope/load.js';
import { planLines } from './plan-report.js';

const telescope = await loadTelescope('eda2');
const measured = (secondsPerUnit: number) => ({ secondsPerUnit, basis: 'measured' }) as const;
/** One channel of 10 kHz, an image per second, gains every ten: rates are easily computed by hand. */
function planFor(costs: Partial<KernelCosts> = {}, options: Partial<WorkloadOptions> = {}): Plan {
  const workload = workloadOf({
    telescope,
    channels: 1,
    channelWidthHz: 1e4,
    input: 'spectra',
    taps: 8,
    cadenceS: 1,
    calibrateEveryS: 10,
    pixels: 128,
    field: { kind: 'all-sky' },
    kernelSize: 5,
    ...options,
  });
  const all: KernelCosts = {
    channelise: measured(1e-9),
    correlate: measured(1e-6),
    calibrate: measured(1e-3),
    image: measured(0.09),
    'direct image': measured(3e-6),
    finish: measured(0.01),
    beams: measured(1e-9),
    ...costs,
  };
  const bus = { upBytesPerS: 1e10, downBytesPerS: 1e10 };
  return planImaging(workload, all, { title: 'a card', countedAs: 'card', memoryBytes: 1e12, bus });
}
const rowOf = (lines: readonly string[], name: string): string[] | undefined =>
  lines
    .find((line) => line.startsWith(`${name}  `))
    ?.split(/ {2,}/)
    .slice(1);

describe('what a plan states', () => {
  it('the loads by both methods, in the order of the chain', () => {
    const lines = planLines(planFor());
    assert.deepEqual(rowOf(lines, 'correlate'), ['1 %', '0.1 %']); // 1e4 spectra a second at 1 µs; one second in ten
    assert.deepEqual(rowOf(lines, 'calibrate'), ['0.02 %', '0.02 %']); // 0.2 solves a second at 1 ms
    assert.deepEqual(rowOf(lines, 'image'), ['9 %', '–']);
    assert.deepEqual(rowOf(lines, 'direct image'), ['–', '3 %']);
    assert.deepEqual(rowOf(lines, 'all kernels'), ['10 %', '4.12 %']);
    const order = ['correlate ', 'calibrate ', 'image ', 'direct image ', 'finish ', 'all kernels '];
    const places = order.map((name) => lines.findIndex((line) => line.startsWith(`${name} `)));
    assert.deepEqual(
      places,
      [...places].sort((a, b) => a - b),
    );
    assert.equal(rowOf(lines, 'channelise'), undefined);
  });

  it('which method is cheaper, and where that changes', () => {
    // (0.09 − 0.01) / (1e4 · 2e-6) = 4 s
    const lines = planLines(planFor());
    assert.ok(
      lines.includes(
        'cheaper at 1.0 s: direct imaging, on 1 card; correlate, then image takes as many and keeps the card busier',
      ),
    );
    assert.ok(
      lines.includes('images closer together than 4.0 s are cheaper directly, others by correlating first'),
    );
    const never = planLines(planFor({ 'direct image': measured(1e-7), finish: measured(0.01) }));
    assert.ok(never.includes('the other method costs more, however often images are made'));
  });

  it('how many it takes where one is not enough', () => {
    // 1e4 · 3e-4 = 300 % and more: 4 of them at 95 %; from visibilities 10 %
    const lines = planLines(planFor({ 'direct image': measured(3e-4) }));
    assert.deepEqual(rowOf(lines, 'direct image'), ['–', '300 %']);
    assert.deepEqual(rowOf(lines, 'cards needed'), ['1', '4']);
    assert.ok(lines.includes('cheaper at 1.0 s: correlate, then image, on 1 card; direct imaging takes 4'));
    const both = planLines(planFor({ image: measured(50), 'direct image': measured(1e-2) }));
    assert.deepEqual(rowOf(both, 'image'), ['5000 %', '–']); // never "× real time", which suggests fast
    assert.ok(both.includes('none is planned to be busier than 95 %'));
  });

  it('what was scaled or estimated, and what that means', () => {
    const scaled = { secondsPerUnit: 1e-12, basis: 'scaled' } as const;
    const lines = planLines(planFor({ correlate: scaled }));
    assert.deepEqual(rowOf(lines, 'correlate'), ['< 0.01 % (scaled)', '< 0.01 % (scaled)']);
    assert.ok(lines.includes('scaled: from a timing of another size'));
    assert.ok(!lines.some((line) => line.startsWith('estimated')));
    assert.ok(!planLines(planFor()).some((line) => line.startsWith('scaled')));
  });

  it('what arrives', () => {
    assert.ok(planLines(planFor({}, { bits: 4 }))[1].endsWith('; 4-bit spectra, channelised elsewhere'));
    const voltages = planLines(planFor({}, { input: 'voltages', bits: 4 }));
    assert.ok(voltages[1].endsWith('; 8-bit voltages, channelised by 8 taps to 4-bit spectra'));
    assert.ok(rowOf(voltages, 'channelise'));
  });
});
