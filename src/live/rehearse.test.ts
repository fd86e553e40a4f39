/** The whole chain runs once on zeros before the input is opened. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openBackend } from '../backend/select.js';
import { chips } from '../packets/chips.js';
import { mwa } from '../packets/mwa.js';
import type { StreamPlan } from '../packets/packet-format.js';
import { bandOf, planRing, silentSource } from '../receive/index.js';
import { loadTelescope } from '../telescope/load.js';
import { selectStations } from '../telescope/select.js';
import { rehearse } from './chain.js';
import { contextOf, runOn } from './testing.js';

const streams: readonly StreamPlan[] = [
  chips.plan({ boards: [1], channels: 2, firstChannel: 2320 }),
  mwa.plan({ coarseChannel: 46, inputs: [0, 1, 2, 3] }),
];

describe('a rehearsal', () => {
  for (const stream of streams)
    for (const by of ['visibilities', 'direct'] as const)
      it(`of ${stream.format} makes an image of silence by ${by}, and an integration`, async () => {
        const backend = await openBackend('reference', {});
        try {
          const band = bandOf(stream);
          assert.ok(band);
          const silence = silentSource({ ring: planRing(stream), band, polarisations: 2 });
          const context = await contextOf(silence, {
            backend,
            telescope: selectStations(await loadTelescope('lwasv'), stream.inputs / 2),
            products: [
              { visibilities: null, integration: 1 },
              { images: null, every: 0.1, method: by, pixels: 64, ...(by === 'direct' && { kernel: 7 }) },
            ],
            ...(silence.kind === 'voltages' && { front: { channels: 2, taps: 4 } }),
          });
          const made = { integrations: 0, images: 0, counted: 0, sum: 0 };
          await runOn(silence, context, {
            integration: ({ counts, visibilities }) => {
              made.integrations++;
              made.counted += counts[0];
              for (const value of visibilities) made.sum += Math.abs(value);
            },
            image: ({ image }) => {
              made.images++;
              // Pixels below the horizon are NaN.
              for (const value of image) if (!Number.isNaN(value)) made.sum += Math.abs(value);
            },
            noImage: (why) => assert.fail(why),
          });
          assert.ok(made.integrations > 0 && made.images > 0 && made.counted > 0, JSON.stringify(made));
          assert.equal(made.sum, 0);
          await rehearse(silentSource({ ring: planRing(stream), band, polarisations: 2 }), context);
        } finally {
          await backend.close();
        }
      });
});
