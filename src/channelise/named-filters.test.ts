import assert from 'node:assert/strict';
import { it } from 'node:test';
import { namedFilters, type FilterName } from './named-filters.js';
import { planChannelise } from './plan.js';
import { filterResponse } from './response.js';

/** As in docs/channels.md: edge loss and the highest level beyond 1.5 channels in dB, and noise efficiency. */
const documented = {
  usual: [6.0, -81, 0.945],
  even: [3.0, -98, 0.96],
  flat: [0.9, -116, 0.93],
  sharp: [6.0, -117, 0.98],
  dft: [3.9, -13, 1],
} satisfies Record<FilterName, readonly [number, number, number]>;

void it('filters by name are as their table states', () => {
  for (const name of Object.keys(documented) as FilterName[]) {
    const plan = planChannelise({
      channels: 32,
      ...namedFilters[name],
      inputs: 1,
      polarisations: 1,
      blockSamples: 32,
      // Floats: the rounding of 16-bit taps has a floor near −100 dB.
      inputType: 'cf32',
      outputType: 'cf32',
    });
    const { edgeLossDb, leakageBeyondDb, noiseEfficiency } = filterResponse(plan);
    const [edge, beyond, efficiency] = documented[name];
    assert.ok(Math.abs(edgeLossDb - edge) < 0.06, `${name}: ${edgeLossDb} dB at the edge`);
    assert.ok(Math.abs(leakageBeyondDb - beyond) < 1, `${name}: ${leakageBeyondDb} dB beyond`);
    assert.ok(Math.abs(noiseEfficiency - efficiency) < 0.005, `${name}: efficiency ${noiseEfficiency}`);
  }
});
