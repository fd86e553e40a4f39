import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nothingToClose } from '../core/closing.js';
import { addSeconds, parseInstant, type Instant } from '../core/instant.js';
import type { SpectraSource, VoltageSource } from '../core/sources.js';
import { trackedDelays } from '../delay/index.js';
import { parsePhaseCentre } from '../sky/phase-centre.js';
import type { Telescope } from '../telescope/telescope.js';
import { spectraOfFront } from '../compose/index.js';
import { frontOf, planLiveChannels } from './front.js';

const RATE_HZ = 1e6;
const telescope = {
  name: 'pair',
  title: 'Two dishes',
  polarisations: 1,
  beamExponent: 0,
  site: { latitudeDeg: 34, longitudeDeg: -107, heightM: 1400 },
  stations: [0, 3000].map((eastM, s) => ({ name: `s${s}`, eastM, northM: 0, upM: 0 })),
  band: { lowHz: 1e8, highHz: 2e8 },
  recording: { centreFrequencyHz: 1.5e8, sampleRateHz: RATE_HZ, channels: 8, bits: 8 },
} as unknown as Telescope;
const first = parseInstant('2026-06-21T04:00:00Z', 'test');
// eslint-disable-next-line @typescript-eslint/require-await
async function* none(): AsyncGenerator<never> {
  yield* [];
}
const voltages = (start: Instant): VoltageSource => ({
  kind: 'voltages',
  type: 'ci8',
  inputs: 2,
  polarisations: 1,
  start,
  close: nothingToClose,
  sampleRateHz: RATE_HZ,
  centreFrequencyHz: 1.5e8,
  blocks: none,
});
const spectra: SpectraSource = {
  kind: 'spectra',
  type: 'ci4',
  inputs: 2,
  polarisations: 1,
  channels: 3,
  start: first,
  spectrumRateHz: 1000,
  frequenciesHz: Float64Array.of(1e8, 1.00001e8, 1.00002e8),
  channelWidthHz: 1000,
  gainRatio: 3,
  close: nothingToClose,
  blocks: none,
};
const delays = { track: parsePhaseCentre('CygA', 'test') };

describe('the front of a stream epoch', () => {
  it("counts delays from the epoch's own start: an hour later the place is elsewhere", () => {
    const ticks = 3600 * RATE_HZ;
    const delayModel = frontOf(voltages(first), { telescope, delays }).delays?.delayModel;
    const later = frontOf(voltages(addSeconds(first, 3600)), { telescope, delays }).delays?.delayModel;
    assert.ok(delayModel && later);
    const [atStart, anHour] = [0, ticks].map((tick) => trackedDelays(delayModel, RATE_HZ, tick)[1].delayS);
    const ofLater = trackedDelays(later, RATE_HZ, 0)[1].delayS;
    assert.ok(Math.abs(ofLater - anHour) < 1e-12, `${ofLater} of ${anHour}`);
    assert.ok(Math.abs(atStart - anHour) > 1e-7);
  });

  it('plans for the longest delay: 3 km are 10.007 samples', () => {
    const settings = { channels: 8, taps: 4, outputType: 'cf32' } as const;
    assert.equal(planLiveChannels(voltages(first), settings, { telescope, delays })?.mostDelaySamples, 12);
    assert.equal(planLiveChannels(voltages(first), settings, { telescope })?.mostDelaySamples, undefined);
  });

  it('makes channels finer, with the gain that they came with', () => {
    const settings = { channels: 4, taps: 2, outputType: 'ci8' } as const;
    const channels = planLiveChannels(spectra, settings, { telescope, fineChannels: 4 });
    const front = frontOf(spectra, { telescope, fineChannels: 4, channels });
    const made = spectraOfFront(front);
    assert.deepEqual([made.channels, made.inputs, made.channelWidthHz], [12, 2, 250]);
    assert.equal(made.grid.spectrumRateHz, 250);
    assert.equal(front.gain?.gainRatio, 3);
    assert.throws(() => frontOf(spectra, { telescope, fineChannels: 4, channels, delays }), /not delayed/);
  });
});
