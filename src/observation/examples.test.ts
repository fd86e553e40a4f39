import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';
import { telescopeNames } from '../telescope/registry.js';
import { canonicalObservation, parseObservation, readObservation, writeObservation } from './file.js';
import { observationJsonSchema } from './json-schema.js';

const folder = fileURLToPath(new URL('../../examples/', import.meta.url));
const names = readdirSync(folder).sort();

describe('example observations', () => {
  it('are there for each telescope that we know, and name it', async () => {
    assert.deepEqual(names, [...telescopeNames()].map((name) => `${name}.yaml`).sort());
    for (const name of names) {
      const { observation } = await readObservation(`${folder}${name}`);
      assert.equal(`${String(observation.telescope)}.yaml`, name);
    }
  });

  it('are the same after writing and reading again', async () => {
    for (const name of names) {
      const { observation } = await readObservation(`${folder}${name}`);
      assert.deepEqual(parseObservation(writeObservation(observation)).observation, observation, name);
      assert.deepEqual(parseObservation(canonicalObservation(observation)).observation, observation, name);
    }
  });

  it('are accepted by the JSON Schema that editors use, which refuses what the check refuses', () => {
    const editor = z.fromJSONSchema(observationJsonSchema() as Parameters<typeof z.fromJSONSchema>[0]);
    for (const name of names) {
      const read = editor.safeParse(parse(readFileSync(`${folder}${name}`, 'utf8')));
      assert.ok(read.success, `${name}: ${read.error?.message ?? ''}`);
    }
    const start = { corella: 1, source: { recording: 'a' } };
    const products = [{ visibilities: 'v.uvh5' }];
    assert.ok(editor.safeParse({ ...start, products }).success);
    const wrong = [
      { products },
      { ...start, products, front: { taps: 1000 } },
      { ...start, products, front: { chanels: 4 } },
      { ...start, products, source: { recording: 'a', listen: 1 } },
      { ...start, products: [{ visibilities: 'v.uvh5', integration: '40 parsecs' }] },
      { ...start, products: [{ visibilities: 'v.uvh5', integration: 0 }] },
      { ...start, products: [{ images: 'v.fits', method: 'magic' }] },
      { ...start, products: [{ integration: 1 }] },
      { ...start, products: [] },
      { ...start, products, flags: { channels: ['4x'] } },
    ];
    for (const one of wrong) assert.equal(editor.safeParse(one).success, false, JSON.stringify(one));
  });

  it('of the docs are right too', () => {
    const page = readFileSync(new URL('../../docs/observation.md', import.meta.url), 'utf8');
    const [, text] = /^```yaml\n([\s\S]*?)^```/m.exec(page) ?? [];
    assert.equal(parseObservation(text).observation.products.length, 2);
  });

  it('name that schema, so that editors find it', () => {
    for (const name of names)
      assert.match(
        readFileSync(`${folder}${name}`, 'utf8'),
        /^# yaml-language-server: \$schema=\.\.\/docs\/observation\.schema\.json\n/,
      );
  });
});
