import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chips } from '../../../packets/chips.js';
import { randomStations, zenithAxes } from '../../../image/cases.js';
import { planImage } from '../../../image/index.js';
import { planKurtosis } from '../../../kurtosis/index.js';
import { planRing } from '../../../receive/index.js';
import { beyondCard, checkFits, correlates, liveCardParts, partsBytes } from './plan.js';

const boards = Array.from({ length: 16 }, (_, n) => n + 1);
const ring = planRing(chips.plan({ boards, channels: 132, firstChannel: 1600 }));
const image = planImage({
  pixels: 64,
  field: { kind: 'all-sky' },
  stationsM: randomStations(3, 256, 40),
  axes: zenithAxes,
  frequenciesHz: Float64Array.from({ length: 132 }, (_, c) => 40e6 + 25e3 * c),
  polarisations: 2,
});
const bytesOf = (parts: ReturnType<typeof liveCardParts>, what: string): number | undefined =>
  parts.find((part) => part.what === what)?.bytes;

it('what a card cannot do goes through the host, option by option; a plain run stays on the card', () => {
  const imaging = { everyS: 1, road: 'direct', weight: 'natural' } as const;
  const settings = { field: { kind: 'all-sky' }, kernelSize: 5 } as const;
  const at = (): never => assert.fail();
  assert.equal(
    beyondCard({ imaging: { ...imaging, image: settings }, delays: { fixedS: new Float64Array(2) } }),
    undefined,
  );
  assert.equal(beyondCard({ flags: { rules: [], channels: [1] } }), undefined);
  assert.match(beyondCard({ delays: { fixedS: Float64Array.of(0, 1e-9) } }) ?? '', /delayed/);
  assert.match(beyondCard({ fineChannels: 4 }) ?? '', /finer/);
  assert.match(beyondCard({ vanVleck: {} }) ?? '', /van Vleck/);
  assert.match(beyondCard({ flags: { rules: [{}] } }) ?? '', /flagged/);
  const image = { ...imaging, image: settings };
  assert.match(beyondCard({ imaging: { ...image, rules: [{}] } }) ?? '', /of images are flagged/);
  assert.match(beyondCard({ imaging: { ...image, calibrated: at } }) ?? '', /change in time/);
});

describe("what a night keeps on a card, of LWA-SV's group", () => {
  it('blocks of 40 ms: two as they came, three as spectra', () => {
    const parts = liveCardParts({ ring, polarisations: 2, integrations: 'for nobody' });
    // 16 boards × 1000 packets of 132 × 32 bytes, twice.
    assert.equal(bytesOf(parts, 'packets'), 2 * 67_584_000);
    // 67,584 rows of 1000 samples: 2048 bytes as kernels read them, 1016 packed.
    assert.equal(bytesOf(parts, 'spectra'), 3 * 67_584 * (2048 + 1016));
    assert.equal(parts.length, 2);
  });

  it('correlates for images by visibilities and for files, not for direct images alone', () => {
    const base = { ring, polarisations: 2 } as const;
    const direct = { imaging: { road: 'direct', plan: image } } as const;
    const visibilities = { imaging: { road: 'visibilities', plan: image } } as const;
    assert.equal(correlates({ ...base, ...direct, integrations: 'for nobody' }), false);
    assert.equal(correlates({ ...base, ...direct, integrations: 'kept' }), true);
    assert.equal(correlates({ ...base, ...visibilities, integrations: 'for nobody' }), true);
    assert.equal(correlates({ ...base, integrations: 'for nobody' }), false);
    const kept = liveCardParts({ ...base, ...visibilities, integrations: 'kept' });
    // 132 channels × 32,896 baselines × 4 products of 16 bytes, twice.
    assert.equal(bytesOf(kept, 'integrations'), 2 * 132 * 32_896 * 4 * 16);
    assert.equal(bytesOf(kept, 'images'), 4 * 132 * 4 * 64 * 64 * 8);
  });

  it('of interference: sums of a block', () => {
    const kurtosis = planKurtosis({ type: 'ci4', channels: 132, inputs: 512, polarisations: 2 });
    const parts = liveCardParts({ ring, polarisations: 2, integrations: 'for nobody', kurtosis });
    // Four windows of 132 channels: 512 inputs of 16 bytes.
    assert.equal(bytesOf(parts, 'powers of windows'), 4 * 132 * 512 * 16);
  });

  it('a card that is too small is refused with the numbers', () => {
    const parts = liveCardParts({
      ...{ ring, polarisations: 2, integrations: 'kept' },
      imaging: { road: 'visibilities', plan: image },
    });
    const bytes = partsBytes(parts);
    checkFits(parts, { name: 'a card', freeBytes: bytes / 0.94 });
    assert.throws(() => {
      checkFits(parts, { name: 'a small card', freeBytes: 2e9 });
    }, /needs .* of a small card, which has .* free: packets .*, spectra .*, integrations/);
    assert.throws(() => {
      checkFits(parts, { name: 'a card', freeBytes: bytes / 0.96 });
    });
  });
});
