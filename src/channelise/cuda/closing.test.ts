import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertClosesAll } from '../../backend/cuda/testing.js';
import { planChannelise, type ChanneliseOptions } from '../plan.js';
import { prepareCudaChanneliser } from './prepare.js';

const kinds: readonly (readonly [Partial<ChanneliseOptions>, RegExp])[] = [
  [{ channels: 12 }, /^one pass$/],
  [{ channels: 97 }, /^two passes$/],
  [{ channels: 1024, taps: 8 }, /tensor cores/],
  [{ channels: 4096, taps: 8 }, /a block to a spectrum/],
];

it('a channeliser on a card closes all it opened, also where it cannot be prepared', async () => {
  for (const [options, description] of kinds) {
    const channels = options.channels ?? 16;
    const plan = planChannelise({
      channels,
      taps: 4,
      inputs: 2,
      polarisations: 1,
      inputType: 'ci8',
      outputType: 'ci8',
      blockSamples: 64 * channels,
      ...options,
    });
    const places = await assertClosesAll(async (backend) => {
      const channeliser = await prepareCudaChanneliser(plan, backend);
      assert.match(channeliser.description, description);
      return channeliser;
    });
    assert.ok(places > 12);
  }
});
