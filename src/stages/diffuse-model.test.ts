/** Tens of thousands of grid cells by the fast sum, compared with the model that sources are computed by. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { modelVisibilities, type BeamVoltages } from '../calibrate/index.js';
import { randomStream } from '../core/random.js';
import { skyCells } from '../sky/diffuse/cells.js';
import { diffuseVisibilities } from './diffuse-model.js';

const frequenciesHz = Float64Array.of(60e6, 61e6);
const random = randomStream(2, 'diffuse model');
const stationsM = Array.from({ length: 5 }, () => ({
  x: 30 * random.uniform(),
  y: 30 * random.uniform(),
  z: random.uniform(),
}));
const pair = (): Float64Array => Float64Array.of(random.uniform(), random.uniform());
const beams = (): BeamVoltages => ({ x: pair(), y: pair() });
const withPhases = (): BeamVoltages => ({ ...beams(), xIm: pair(), yIm: pair() });

for (const [name, beamTo] of [
  ['one beam', () => ({ beam: 0.7 })],
  ['X and Y apart', () => ({ beam: beams() })],
  ['stations of their own, with phases', () => ({ stationBeams: stationsM.map(withPhases) })],
] as const)
  for (const polarisations of [1, 2] as const)
    it(`a diffuse sky is drawn as its cells would be: ${name}, ${polarisations} polarisation(s)`, () => {
      // More grid cells than one batch, and not a multiple.
      const components = skyCells(9).directionsEnu.map((directionEnu) => ({
        directionEnu,
        fluxJy: pair(),
        ...beamTo(),
      }));
      assert.ok(components.length > 128 && components.length % 128 !== 0);
      const modelled = new Uint8Array(15).fill(1);
      modelled[4] = 0;
      const found = diffuseVisibilities({ components, modelled }, stationsM, frequenciesHz, polarisations);
      const wanted = modelVisibilities({ stationsM, frequenciesHz, polarisations, components });
      wanted.forEach((value, at) => {
        const b = Math.floor(at / (2 * polarisations)) % 15;
        const belongs = b === 4 ? 0 : value;
        assert.ok(Math.abs(found[at] - belongs) < 1e-9, `${at}: ${found[at]} where ${belongs} belongs`);
      });
    });
