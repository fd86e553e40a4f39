import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkObservation } from './check.js';
import { refuseNotLive, refuseNotOfRecordings, refuseUnsupported, supportTable } from './support.js';

const voltages = { isLive: false, kind: 'voltages' } as const;
const observed = (more: object, ...products: object[]) =>
  checkObservation({
    corella: 1,
    source: { recording: 'v.sigmf-meta' },
    products: products.length > 0 ? products : [{ visibilities: 'x.uvh5' }],
    ...more,
  });

describe('what cannot be combined', () => {
  it('is refused by its field, with what to do instead', () => {
    const direct = { images: 'sky.fits', method: 'direct' };
    const cases = [
      [observed({ front: { finer: 4, delays: { track: 'CygA' } } }), /^front\.finer: /],
      [
        observed({ front: { delays: { track: 'CygA' } } }, { spectra: 'c.sigmf-meta' }),
        /^products\.spectra: /,
      ],
      [observed({ flags: { baselines: ['a&b'] } }, direct), /^flags\.baselines: .*, or image visibilities$/],
      [observed({ machine: { cards: [0, 1] } }, direct), /^machine\.cards: /],
      [
        observed({}, { visibilities: 'x.uvh5', values: 'sums', 'van-vleck': true }),
        /^products\.visibilities\.van-vleck: sums are whole numbers/,
      ],
      [observed({ gains: 'g.json' }), /^gains\.file: gains calibrate images/],
    ] as const;
    for (const [observation, message] of cases)
      assert.throws(
        () => {
          refuseUnsupported(observation, voltages);
        },
        { message },
      );
    refuseUnsupported(observed({ front: { delays: { track: 'CygA' } } }, direct), voltages);
    refuseUnsupported(
      observed({ flags: { channels: ['3'], times: ['2026-06-21T04:00:00Z..'] } }, direct),
      voltages,
    );
  });

  it('names every field that a run of a recording would not use', () => {
    const cases = [
      [observed({ gains: { every: '10min' } }), /^gains\.every: is for gains\.solve/],
      [observed({ for: '10s' }), /^for: /],
      [observed({ source: { recording: 'v.sigmf-meta', channels: '0-3' } }), /^source\.channels: /],
      [observed({ source: { recording: 'v.sigmf-meta', epoch: 'clock' } }), /^source\.epoch: /],
      [
        observed({}, { visibilities: 'x.uvh5', 'file-every': '1min' }),
        /^products\.visibilities\.file-every: /,
      ],
      [observed({}, { images: 'x.fits', 'beam-corrected': true }), /^products\.images\.beam-corrected: /],
    ] as const;
    for (const [observation, message] of cases)
      assert.throws(
        () => {
          refuseNotOfRecordings(observation);
        },
        { message },
      );
    refuseNotOfRecordings(observed({}));
  });

  it('names every field that a live run would not use', () => {
    const live = (more: object, ...products: object[]) =>
      observed({ source: { capture: 'c.pcap', ...more } }, ...products);
    const cases = [
      [live({ duration: '1s' }), /^source\.duration: is for recordings/],
      [live({ 'sample-type': 'cu8' }), /^source\.sample-type: .*packets state it themselves/],
      [live({ interface: 'eth0' }), /^source\.interface: /],
      [live({}, { images: 'sky.png', sheet: true }), /^products\.images\.sheet: /],
      [live({}, { images: 'sky.png', feeds: 'fixed' }), /^products\.images\.feeds: /],
    ] as const;
    for (const [observation, message] of cases)
      assert.throws(
        () => {
          refuseNotLive(observation);
        },
        { message },
      );
    refuseNotLive(live({ format: 'snap2', epoch: 'clock', rate: '25kHz' }));
  });

  it('is a table in the docs', () => {
    assert.match(supportTable(), /\| `front\.finer` \| front\.delays \|/);
    assert.match(supportTable(), /\| `source\.duration` \| live data \|/);
  });
});
