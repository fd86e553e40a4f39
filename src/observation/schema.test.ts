import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { backendChoices } from '../core/backend-kinds.js';
import { namedFilters } from '../channelise/index.js';
import { fieldsOf } from '../fields/index.js';
import { formats, readingFields } from '../formats/index.js';
import { LEAST_SPECTRA, USUAL_SIGMAS, USUAL_SPECTRA } from '../kurtosis/index.js';
import { packetFormats } from '../packets/registry.js';
import { productFields, productNames } from '../products/index.js';
import { filterNames, windowOf } from './parts/front.js';
import { formatNames } from './parts/source.js';
import { tryObservation } from './check.js';
import { flags, machine, source } from './index.js';
import { observationJsonSchema } from './json-schema.js';
import { observation } from './schema.js';

const all = [
  ...fieldsOf(observation),
  ...productNames.flatMap((name) => fieldsOf(productFields[name], ['products', name])),
].map((field) => ({ ...field, name: field.path.join('.') }));

describe('the schema of an observation', () => {
  it('lists the formats, filters, backends and limits that there are', () => {
    const known = new Set([...formats.map(({ name }) => name), ...Object.keys(packetFormats)]);
    assert.deepEqual([...formatNames].sort(), [...known].sort());
    assert.deepEqual([...filterNames], Object.keys(namedFilters));
    assert.deepEqual(machine.shape.backend.unwrap().options, [...backendChoices]);
    const spectra = fieldsOf(flags).find(({ path }) => path[0] === 'kurtosis-spectra');
    assert.equal(spectra?.about.range?.least, LEAST_SPECTRA);
    assert.match(spectra.about.otherwise ?? '', new RegExp(`^${USUAL_SPECTRA},`));
    const kurtosis = fieldsOf(flags).find(({ path }) => path[0] === 'kurtosis');
    assert.match(kurtosis?.about.help ?? '', new RegExp(`, ${USUAL_SIGMAS} where no number is given`));
  });

  it('has every option that a format reads', () => {
    const offered = fieldsOf(source, ['source']).map(({ path }) => path.join('.'));
    for (const name of Object.values(readingFields)) assert.ok(offered.includes(name), name);
  });

  it('knows a product by one key that no other product has', () => {
    for (const name of productNames)
      for (const other of productNames)
        assert.equal(Object.hasOwn(productFields[other].shape, name), name === other, `${other}.${name}`);
  });

  it('declares each field with a help that reads on in a sentence, a range of which the unit is known, and one default', () => {
    for (const { name, about } of all) {
      assert.doesNotMatch(about.help, /\.$|\btold\b|\bnobody\b/, name);
      assert.ok(about.default === undefined || about.otherwise === undefined, name);
      if (about.flag !== undefined) assert.ok(about.group !== undefined, `${name}: a flag has a group`);
    }
  });

  it('has defaults that its own check accepts', () => {
    for (const { name, schema, about } of all)
      if (about.default !== undefined)
        assert.ok(
          (schema as { safeParse?: (value: unknown) => { success: boolean } }).safeParse?.(about.default)
            .success,
          name,
        );
  });

  it('makes windows for the channeliser of what was written', () => {
    assert.deepEqual(windowOf('hann'), { kind: 'hann' });
    assert.deepEqual(windowOf('kaiser:9.5'), { kind: 'kaiser', beta: 9.5 });
    assert.throws(() => windowOf('square'), /front\.window: 'square' is not a window/);
  });

  it('is the JSON Schema that is shipped', () => {
    const shipped = JSON.parse(
      readFileSync(new URL('../../docs/observation.schema.json', import.meta.url), 'utf8'),
    ) as unknown;
    assert.deepEqual(shipped, JSON.parse(JSON.stringify(observationJsonSchema())), 'run npm run schema');
  });
});

describe('an observation of very many products', () => {
  it('is refused at once', () => {
    const products = Array.from({ length: 100_000 }, (_, n) => ({ visibilities: `${n}.uvh5` }));
    const tried = tryObservation({ corella: 1, source: { recording: 'x' }, products });
    assert.ok('problems' in tried);
    assert.deepEqual(
      tried.problems.map(({ field, what, fix }) => [field, what, fix]),
      [['products', '100000 products are more than one run makes', 'take at most 1000']],
    );
  });
});
